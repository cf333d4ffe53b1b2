package policydiff

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/sandbox"
	"github.com/petrigate/petrigate/internal/policy/verify"
	"github.com/petrigate/petrigate/internal/soak"
	"github.com/petrigate/petrigate/internal/toolname"
)

// TestRandomPairs compares the results for small policies of all forms and their edits with the
// gate. The gate must not contradict a complete comparison or a proof that a policy is narrower,
// and it must admit every witness.
func TestRandomPairs(t *testing.T) {
	from, count := soak.Range(t, 40)
	shares := make(map[string]*share)
	for seed := from; seed < from+uint64(count); seed++ {
		g := rand.New(rand.NewPCG(seed, 43))
		e := newEdit(g)
		d, results := e.compare(t)
		if d == nil {
			continue
		}
		for _, of := range append(e.forms(), "all pairs", "edit: "+e.kind) {
			if shares[of] == nil {
				shares[of] = new(share)
			}
			shares[of].add(d)
		}
		stricter, looser := e.play(g, results)
		if d.Complete && (stricter != "" && d.Stricter == nil || looser != "" && d.Looser == nil) {
			t.Fatalf("seed %d: diff says %s; stricter: %s; looser: %s\n%s", seed, d.result(), stricter, looser, e)
		}
		if d.none[0] && (stricter != "" || d.Stricter != nil) || d.none[1] && (looser != "" || d.Looser != nil) {
			t.Fatalf("seed %d: never %v; stricter: %s; looser: %s\n%s\n%s", seed, d.none, stricter, looser, d.Text("old", "new"), e)
		}
		for _, w := range []*Witness{d.Stricter, d.Looser} {
			if why := e.replayed(w, d, results); why != "" {
				t.Fatalf("seed %d: %s\n%s\n%s", seed, why, d.Text("old", "new"), e)
			}
		}
		if seed%5 == 0 && !e.deny[0] && e.nets[0] == nil && e.tools == nil { // a rules file cannot express these
			e.narrower(t, seed, results, looser)
		}
	}
	for _, of := range slices.Sorted(maps.Keys(shares)) {
		t.Logf("%s: %v", of, shares[of])
	}
}

// A share is a ratio of complete comparisons.
type share struct {
	all, complete int
	why           map[string]int
}

func (s *share) add(d *Comparison) {
	s.all++
	if d.Complete || d.result() == "both" {
		s.complete++
		return
	}
	if s.why == nil {
		s.why = make(map[string]int)
	}
	_, why, _ := strings.Cut(d.why, " ") // omit the name of the net
	s.why[why]++
}

func (s *share) String() string {
	return fmt.Sprintf("%d of %d complete (%d %%) %v", s.complete, s.all, 100*s.complete/s.all, s.why)
}

// compare compares the two policies. It returns nil if either is invalid.
func (e *edit) compare(t *testing.T) (*Comparison, [2]*policy.Result) {
	var sides [2]*Side
	var results [2]*policy.Result
	for i := range sides {
		source := e.source(i)
		result, err := policy.Build(source)
		if err != nil {
			return nil, results
		}
		results[i] = result
		if sides[i], err = NewSide(result, source); err != nil {
			t.Fatal(err)
		}
		if e.tools != nil {
			sides[i].tools, sides[i].configured = e.tools, true
			sides[i].owners = toolname.Owners{{Upstream: "s", Prefix: "s_"}, {Upstream: "t", Prefix: "t_"}}
		}
	}
	d, err := Compare(sides[0], sides[1], e.states(), func() bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	return d, results
}

// states returns the limit on states. It is low if keys make states expensive and the comparison
// incomplete anyway.
func (e *edit) states() int {
	if len(e.of.each) > 0 {
		return 150
	}
	return 1000
}

func (e *edit) source(side int) policy.Source {
	s := policy.Source{Rules: []config.RuleText{{File: "p.rules", Text: e.text(side)}}}
	if e.deny[side] {
		s.Default = "deny"
	}
	if e.nets[side] != nil {
		s.Nets, _ = config.ParseNet("flow.yaml", []byte(e.nets[side].String())) // some nets are invalid
	}
	return s
}

// narrower checks the claim that the new policy admits no more than the old one against the calls
// made.
func (e *edit) narrower(t *testing.T, seed uint64, results [2]*policy.Result, looser string) {
	file := filepath.Join(t.TempDir(), "old.rules")
	if err := os.WriteFile(file, []byte(e.text(0)), 0o600); err != nil {
		t.Fatal(err)
	}
	claim, end := policy.Claim{File: file}, func() bool { return false }
	d, err := compareWithFile(claim, results[1], e.source(1), end)
	if err != nil {
		t.Fatal(err)
	}
	if why := e.replayed(d.Looser, d, results); why != "" {
		t.Fatalf("seed %d: %s\n%s\n%s", seed, why, d.Text("old", "new"), e)
	}
	p := Narrower(claim, results[1], e.source(1), end)
	if p.Result == verify.Proved && looser != "" {
		t.Fatalf("seed %d: proved to be narrower, but: %s\n%s", seed, looser, e)
	}
}

// replayed replays a witness in the gate. It describes the mismatch, or returns the empty string if
// the witness is correct.
func (e *edit) replayed(w *Witness, d *Comparison, results [2]*policy.Result) string {
	if w == nil {
		return ""
	}
	r := w.report()
	var events []sandbox.Event
	if text, err := json.Marshal(r.Events); err != nil || json.Unmarshal(text, &events) != nil {
		return fmt.Sprintf("the events do not read back: %v, %s", err, text)
	}
	for i, result := range results {
		box := sandbox.New(result.Policy, result.Active)
		for k, event := range events {
			if event.Type == "wait" {
				box.Wait(event.Duration())
				continue
			}
			if event.Type == "result" {
				box.Session("").Play(&event)
				continue
			}
			last, says := k == len(events)-1, sandbox.Yes
			if last {
				says = sandbox.Later
			}
			decision := box.Session("").Call(event.Call(), says)
			var is permission
			switch decision := decision.(type) {
			case *gate.Refusal:
				is = refusedCall
			case *gate.Ask:
				is = asked(decision.Approvals())
				if _, ok := box.Session("").Answer(event.ID, sandbox.Yes).(*gate.Refusal); ok {
					is = refusedCall // the net judges the arguments after the approval
				}
			}
			switch {
			case last && is != w.verdicts[i]:
				return fmt.Sprintf("the last call is said to be %s, and is %s, by policy %d", w.verdicts[i], is, i)
			case !last && is == refusedCall:
				return fmt.Sprintf("event %d is refused by policy %d", k, i)
			}
		}
	}
	return ""
}

// A table plays a run under both policies, in two sessions of the same user.
type table struct {
	*rand.Rand
	policies [2]*gate.Policy
	states   [2][2]*gate.State // by policy and session
	now      time.Time
	open     []dealt
	log      []move
	last     dealt
}

// story returns the run so far, including the last call.
func (b *table) story() string {
	var out []string
	for _, m := range b.log {
		out = append(out, m.String())
	}
	return strings.Join(append(out, (&move{dealt: b.last}).String()), ", ")
}

// A move is a step of a run.
type move struct {
	dealt
	end *gate.End     // nil if a call begins
	at  time.Duration // if no call begins or ends: the time passes
}

func (m *move) String() string {
	switch {
	case m.call.Tool == "":
		return "at " + m.at.String()
	case m.end != nil:
		return fmt.Sprintf("%s%s ends: %v %s", m.call.Tool, m.call.Args, m.end.Outcome, m.end.Result)
	}
	return fmt.Sprintf("%s%s in session %d", m.call.Tool, m.call.Args, m.session)
}

// A dealt is a call in flight.
type dealt struct {
	session int
	numbers [2]uint64
	call    gate.Call
}

// play makes random calls. Both policies admit all calls except the last. It returns runs whose
// last call is decided differently.
func (e *edit) play(g *rand.Rand, results [2]*policy.Result) (stricter, looser string) {
	calls := e.calls()
	for round := range 18 {
		b := &table{Rand: g, now: time.Unix(0, 0)}
		for i, r := range results {
			b.policies[i] = r.Policy
			for k := range b.states[i] {
				b.states[i][k] = r.Policy.NewState(r.Active)
				b.states[i][k].Owners = [3]uint64{0, uint64(k + 1), uint64(k + 1)}
			}
		}
		menu := calls
		if round%2 == 1 { // runs get deeper with few calls
			menu = nil
			for range 2 + g.IntN(4) {
				menu = append(menu, calls[g.IntN(len(calls))])
			}
		}
		sessions := 1
		if round%6 == 5 {
			sessions = 2
		}
		for range 24 {
			switch verdicts := b.step(menu, g.IntN(sessions)); {
			case verdicts[1] > verdicts[0] && stricter == "":
				stricter = b.story()
			case verdicts[1] < verdicts[0] && looser == "":
				looser = b.story()
			}
			if stricter != "" && looser != "" {
				return
			}
		}
	}
	return stricter, looser
}

// step lets time pass, ends a call, or makes a call. It does not make a call that one of the
// policies refuses.
func (b *table) step(menu []gate.Call, session int) (verdicts [2]permission) {
	switch {
	case b.IntN(10) == 0:
		b.now = b.now.Add(time.Duration(b.IntN([]int{4000, 100, 25}[b.IntN(3)])) * time.Second)
		b.log = append(b.log, move{at: time.Duration(b.now.UnixNano())})
		return verdicts
	case len(b.open) > 0 && b.IntN(5) < 2:
		b.end(b.IntN(len(b.open)))
		return verdicts
	}
	call := menu[b.IntN(len(menu))]
	call.Time = b.now
	c := dealt{session: session, call: call}
	before := [2]*gate.State{b.states[0][session].Clone(), b.states[1][session].Clone()}
	for i, p := range b.policies {
		verdicts[i], c.numbers[i], _ = decide(p, b.states[i][session], call)
	}
	b.last = c
	if max(verdicts[0], verdicts[1]) == refusedCall {
		b.states[0][session], b.states[1][session] = before[0], before[1]
		return verdicts
	}
	b.open, b.log = append(b.open, c), append(b.log, move{dealt: c})
	b.share(session)
	return verdicts
}

// end ends a call.
func (b *table) end(open int) {
	c := b.open[open]
	end := gate.End{Outcome: []gate.Outcome{gate.Success, gate.Success, gate.Failure, gate.Unknown}[b.IntN(4)], Time: b.now}
	if end.Outcome == gate.Success {
		end.Result = []byte([]string{`{"r":"x"}`, `{"r":"y"}`, `{"r":["x","y"]}`, `{}`}[b.IntN(4)])
	}
	for i, p := range b.policies {
		s := b.states[i][c.session]
		s.Apply(p.End(s, c.numbers[i], end))
	}
	b.log = append(b.log, move{dealt: c, end: &end})
	if end.Outcome != gate.Unknown {
		b.open = slices.Delete(b.open, open, open+1)
	}
	b.share(c.session)
}

// share copies the shared state of the user's sessions to the other session.
func (b *table) share(from int) {
	for i, p := range b.policies {
		for k, n := range p.Nets() {
			if n.Scope != gate.ScopeSession {
				b.states[i][1-from].Nets[k] = b.states[i][from].Nets[k]
			}
		}
	}
}
