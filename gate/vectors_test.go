package gate_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/gate"
)

// vector is one line of the shared vectors.
type vector struct {
	Case struct {
		Name    string
		Rules   string
		Nets    []vectorNet
		Active  []string
		Default string
		Events  []vectorEvent
	}
	Expect vectorAnswer
}

type vectorNet struct {
	Name           string
	Places         []string
	InitialMarking map[string]int
	FreeTools      []string
	Transitions    []struct {
		Name, Type        string
		Inputs, Outputs   []string
		Tools             []string
		Deferred, Observe bool
		Unknown           string
	}
	Map []struct {
		Tool, Field, As string
		Pattern, Word   string
	}
	Match          string
	AllowUnbounded bool
}

type vectorEvent struct {
	Type, ID, Tool, Net, Outcome string
	Args                         json.RawMessage
	Approve                      any
}

type vectorAnswer struct {
	Errors []any
	Nets   []struct {
		Name   string
		States int
	}
	Decisions []vectorDecision
	Final     []vectorFinal
}

type vectorDecision struct {
	I        int
	Decision string
	Kind     string
	Nets     []string
}

type vectorFinal struct {
	Name     string
	Active   bool
	Marking  map[string]int
	InFlight int
}

// TestVectors runs every shared vector whose rules the little reader below
// understands. The whole of the language is tested where it is compiled.
func TestVectors(t *testing.T) {
	dir := filepath.Join("..", "internal", "policy", "testdata", "vectors")
	for _, name := range []string{"petriflow.jsonl", "random.jsonl"} {
		f, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			t.Skip("no vectors here")
		}
		defer f.Close()
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var v vector
			if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
				t.Fatal(err)
			}
			t.Run(v.Case.Name, func(t *testing.T) { v.run(t) })
		}
	}
}

func (v *vector) run(t *testing.T) {
	nets, vmaps, ok := readRules(v.Case.Rules)
	if !ok || v.Expect.Errors != nil {
		t.Skip("more than nets")
	}
	for _, n := range v.Case.Nets {
		nets = append(nets, n.net(t))
	}
	p, err := gate.NewPolicy(nets, gate.PolicyOptions{Labels: labels(vmaps...), Deny: v.Case.Default == "deny"})
	if err != nil {
		t.Fatal(err)
	}
	got := p.Nets()
	if len(got) != len(v.Expect.Nets) {
		t.Fatalf("%d nets, want %d", len(got), len(v.Expect.Nets))
	}
	for i, want := range v.Expect.Nets {
		e, _ := p.Explore(got[i].Name, 0)
		if got[i].Name != want.Name || e.States != want.States || !e.Complete {
			t.Errorf("net %s has %d states, want %v", got[i].Name, e.States, want)
		}
	}
	r := &vectorRun{s: gate.NewSession(p, gate.SessionOptions{Active: v.Case.Active}), calls: map[string]uint64{}, asks: map[string]*gate.Ask{}}
	for i, e := range v.Case.Events {
		d := r.play(e)
		d.I = i
		want := v.Expect.Decisions[i]
		if fmt.Sprint(d) != fmt.Sprint(want) {
			t.Errorf("event %d %+v: %+v, want %+v\n%s", i, e, d, want, r.s.Status())
		}
	}
	if final := r.final(); len(final)+len(v.Expect.Final) > 0 && !reflect.DeepEqual(final, v.Expect.Final) {
		t.Errorf("final %v, want %v", final, v.Expect.Final)
	}
}

func (n *vectorNet) net(t *testing.T) gate.Net {
	def := gate.Net{
		Name: n.Name, Places: n.Places, Initial: n.InitialMarking, Free: n.FreeTools,
		MatchFirst: n.Match == "first", AllowUnbounded: n.AllowUnbounded,
	}
	for _, x := range n.Transitions {
		def.Transitions = append(def.Transitions, gate.Transition{
			Name: x.Name, Inputs: x.Inputs, Outputs: x.Outputs, Tools: gate.Tools(x.Tools...),
			Manual: x.Type == "manual", Deferred: x.Deferred, Observe: x.Observe, Release: x.Unknown == "release",
		})
	}
	for _, m := range n.Map {
		pattern := m.Pattern
		if m.Word != "" {
			pattern = word(m.Word)
		}
		def.Maps = append(def.Maps, gate.Map{Tool: m.Tool, Field: m.Field, As: m.As, Source: pattern, Match: regexp.MustCompile(pattern).MatchString})
	}
	return def
}

func word(w string) string {
	p := regexp.QuoteMeta(w)
	if regexp.MustCompile(`^\w`).MatchString(w) {
		p = `\b` + p
	}
	if regexp.MustCompile(`\w$`).MatchString(w) {
		p += `\b`
	}
	return p
}

type vectorRun struct {
	s     *gate.Session
	calls map[string]uint64
	asks  map[string]*gate.Ask
}

func (r *vectorRun) play(e vectorEvent) vectorDecision {
	switch e.Type {
	case "call":
		return r.call(gate.Call{ID: e.ID, Tool: e.Tool, Args: e.Args}, e.Approve)
	case "answer":
		a := r.asks[e.ID]
		if a == nil {
			return vectorDecision{Decision: "ignored"}
		}
		delete(r.asks, e.ID)
		return r.answer(a, e.Approve == true)
	case "result":
		if number := r.calls[e.ID]; number > 0 {
			r.s.Settle(number, map[string]gate.Outcome{"success": gate.Success, "failure": gate.Failure}[e.Outcome])
		}
	case "activate":
		_ = r.s.Activate(e.Net)
	case "deactivate":
		_ = r.s.Deactivate(e.Net)
	}
	return vectorDecision{Decision: "settled"}
}

func (r *vectorRun) call(c gate.Call, approve any) vectorDecision {
	d := r.s.Decide(c, nil)
	a, asks := d.(*gate.Ask)
	if !asks {
		return r.show(c, d)
	}
	if approve == "wait" {
		r.asks[c.ID] = a
		return vectorDecision{Decision: "ask", Kind: "approval", Nets: blockNets(a.Refusal().Blocks)}
	}
	return r.answer(a, approve == true)
}

func (r *vectorRun) answer(a *gate.Ask, yes bool) vectorDecision {
	if !yes {
		r.s.Withdraw(a)
		return r.show(a.Call, a.Refusal())
	}
	return r.show(a.Call, r.s.Decide(a.Call, a.Grant()))
}

func (r *vectorRun) show(c gate.Call, d gate.Decision) vectorDecision {
	switch d := d.(type) {
	case *gate.Allow:
		r.calls[c.ID] = d.Ticket.Number
		return vectorDecision{Decision: "allow"}
	case *gate.Refusal:
		return vectorDecision{Decision: "refuse", Kind: string(d.Kind), Nets: blockNets(d.Blocks)}
	}
	return vectorDecision{Decision: "?"}
}

func blockNets(blocks []gate.Block) []string {
	var nets []string
	for _, b := range blocks {
		nets = append(nets, b.Net)
	}
	slices.Sort(nets)
	return nets
}

func (r *vectorRun) final() (final []vectorFinal) {
	for _, n := range r.s.Nets() {
		m := make(map[string]int)
		for _, tokens := range n.Marking {
			m[tokens.Place] = tokens.Count
		}
		maps.DeleteFunc(m, func(_ string, n int) bool { return n == 0 })
		final = append(final, vectorFinal{Name: n.Name, Active: n.Active, Marking: m, InFlight: len(n.InFlight)})
	}
	return final
}

// readRules reads the plainest form of the rules, to feed the gate with their
// nets; ok is false where it does not understand them.
func readRules(text string) (nets []gate.Net, vmaps []gate.Map, ok bool) {
	for _, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		w := strings.Fields(line)
		switch {
		case len(w) == 0:
		case len(w) == 1:
			return nil, nil, false
		case strings.ContainsAny(line, "*?\"") && w[0] != "map":
			return nil, nil, false
		case w[0] == "map" && len(w) == 5:
			tool, field, _ := strings.Cut(w[1], ".")
			pattern := word(w[2])
			if strings.HasPrefix(w[2], "/") {
				if len(w[2]) < 3 || !strings.HasSuffix(w[2], "/") {
					return nil, nil, false
				}
				pattern = w[2][1 : len(w[2])-1]
			}
			re, err := regexp.Compile(pattern)
			if err != nil {
				return nil, nil, false
			}
			vmaps = append(vmaps, gate.Map{Tool: tool, Field: field, As: w[4], Source: pattern, Match: re.MatchString})
		case w[0] == "require" && w[1] == "human-approval" && len(w) == 4:
			nets = append(nets, approvalNet(w[3]))
		case w[0] == "require" && len(w) == 4:
			nets = append(nets, sequenceNet(w[1], w[3]))
		case w[0] == "block" && len(w) == 2:
			nets = append(nets, blockNet(w[1]))
		case w[0] == "limit" && len(w) == 6:
			n, err := strconv.Atoi(w[3])
			if err != nil {
				return nil, nil, false
			}
			nets = append(nets, limitNet(w[1], n, w[5]))
		default:
			return nil, nil, false
		}
	}
	return nets, vmaps, true
}

func ruleNet(name string, cause gate.Cause, reason string, more map[string]int, ts ...gate.Transition) gate.Net {
	n := gate.Net{Name: name, Labels: &gate.Labels{}, Cause: cause, Reason: reason, Places: []string{"idle", "ready"}, Initial: map[string]int{"idle": 1}}
	for _, place := range slices.Sorted(maps.Keys(more)) {
		n.Places = append(n.Places, place)
		n.Initial[place] = more[place]
	}
	n.Transitions = append([]gate.Transition{{Name: "start", Inputs: []string{"idle"}, Outputs: []string{"ready"}}}, ts...)
	return n
}

func sequenceNet(a, b string) gate.Net {
	return ruleNet("require-"+a+"-before-"+b, gate.CauseSequence, b+" requires a successful call to "+a+" first.", map[string]int{"gate": 0},
		gate.Transition{Name: "do-" + a, Inputs: []string{"ready"}, Outputs: []string{"gate"}, Tools: gate.Tools(a), Deferred: true, Observe: true},
		gate.Transition{Name: "then-" + b, Inputs: []string{"gate"}, Outputs: []string{"ready"}, Tools: gate.Tools(b)})
}

func approvalNet(b string) gate.Net {
	return ruleNet("approve-before-"+b, gate.CauseApproval, b+" requires human approval.", nil,
		gate.Transition{Name: "approve", Inputs: []string{"ready"}, Outputs: []string{"ready"}, Tools: gate.Tools(b), Manual: true})
}

func blockNet(a string) gate.Net {
	return ruleNet("block-"+a, gate.CauseBlock, a+" is blocked and cannot be called.", map[string]int{"locked": 0},
		gate.Transition{Name: "do-" + a, Inputs: []string{"locked"}, Outputs: []string{"locked"}, Tools: gate.Tools(a)})
}

func limitNet(a string, n int, per string) gate.Net {
	name, reason := fmt.Sprintf("limit-%s-%d", a, n), fmt.Sprintf("%s has reached its limit of %d calls per %s.", a, n, per)
	if per == "session" {
		return ruleNet(name, gate.CauseLimit, reason, map[string]int{"budget": n},
			gate.Transition{Name: "do-" + a, Inputs: []string{"ready", "budget"}, Outputs: []string{"ready"}, Tools: gate.Tools(a)})
	}
	return ruleNet(name+"-per-"+per, gate.CauseLimit, reason, map[string]int{"budget": n, "spent": 0},
		gate.Transition{Name: "do-" + a, Inputs: []string{"ready", "budget"}, Outputs: []string{"ready", "spent"}, Tools: gate.Tools(a)},
		gate.Transition{Name: "refill", Inputs: []string{"ready", "spent"}, Outputs: []string{"ready", "budget"}, Tools: gate.Tools(per), Observe: true})
}
