package check

import (
	"strconv"
	"strings"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy/sandbox"
	"github.com/petrigate/petrigate/internal/policy/verify"
	"github.com/petrigate/petrigate/internal/text"
)

// A Claim holds a claim of the policy and the result of verifying it.
type Claim struct {
	Text   string
	Rule   gate.Position
	Result string // "proved", "refuted" or "unknown"
	Why    string // why the result is unknown or a counterexample is missing
	Part   string // if the claim is about several names, the part that was not proved
	Broken string // how the calls in Steps violate the claim; empty if no calls do
}

// Claims returns the policy's claims in order.
func (r Report) Claims() []Claim {
	if r.verified == nil {
		return nil
	}
	var all []Claim
	for i, p := range r.verified.proofs {
		c := Claim{Text: p.Text, Rule: p.Rule, Result: p.Result.String(), Why: r.Proofs[i].Why, Part: r.Proofs[i].Part}
		if len(p.Counterexample) > 0 {
			c.Broken = strings.TrimPrefix(brokenBy(p), ", ")
		}
		all = append(all, c)
	}
	return all
}

// A Step is a step of a counterexample.
type Step struct {
	Text    string // what happens in this step; empty for the initial state
	Verdict string // for a call, the policy's verdict: "allow", "refuse" or "ask"
	Reason  string // for a refused call, the reason for the refusal
	Nets    []NetStep
}

// A NetStep holds a net's verdict for a step and the net's marking after the step.
type NetStep struct {
	Net     string
	Rule    gate.Position
	Says    string // if the step is a call, the net's verdict; may be empty
	Marking string
	Moved   bool // whether the step changed the marking
}

// maxSteps is the maximum number of steps shown one by one.
const maxSteps = 200

// Steps replays a claim's counterexample from the initial state. It omits nets that have no verdict
// on any call and whose markings never change. The second result is the number of steps that were
// not replayed. If the claim has no counterexample, Steps returns nil.
func (r Report) Steps(claim int) (all []Step, more int) {
	if r.verified == nil || claim < 0 || claim >= len(r.verified.proofs) {
		return nil, 0
	}
	v := r.verified
	run := v.proofs[claim].Counterexample
	if len(run) == 0 {
		return nil, 0
	}
	p := player{v: v, box: sandbox.New(v.policy, nil), returns: map[int][]byte{}, names: map[int]string{}, concerned: map[string]bool{}}
	p.session = p.box.Session("")
	all = append(all, Step{Nets: p.nets(nil)})
	for i, step := range run {
		if i == maxSteps || p.played > maxReplayed {
			more = len(run) - i
			break
		}
		all = append(all, p.play(step))
	}
	for i := range all {
		all[i].Nets = list.Filter(all[i].Nets, func(n NetStep) bool { return p.concerned[n.Net] })
	}
	return all, more
}

// A player replays a trace and records each net's verdicts.
type player struct {
	v         *Analysis
	box       *sandbox.Sandbox
	session   *sandbox.Session
	returns   map[int][]byte
	names     map[int]string // names of the calls, by call number
	played    int
	before    map[string]string // each net's marking before the step
	concerned map[string]bool
}

func (p *player) play(step verify.Step) Step {
	id := strconv.Itoa(step.Call)
	switch {
	case step.Wait > 0:
		wait := step.Wait * time.Duration(max(1, step.Times))
		p.box.Wait(wait)
		p.session.Tick(p.box.Now())
		return Step{Text: text.Exact(wait) + " pass", Nets: p.nets(nil)}
	case step.Ends:
		p.session.End(id, gate.End{Outcome: step.Outcome, Result: p.returns[step.Call]})
		return Step{Text: p.names[step.Call] + " " + ending(verify.Step{Result: string(p.returns[step.Call])}, step.Outcome), Nets: p.nets(nil)}
	}
	p.returns[step.Call] = []byte(step.Result)
	p.names[step.Call] = "the call " + text.Escape(step.Name)
	p.played += max(1, step.Times)
	call := p.v.tools.call(step)
	call.ID, call.Time = id, p.box.Now()
	said := p.session.Classify(call)
	d, _ := p.session.Repeat(call, sandbox.Yes, step.Times, []byte(step.Result))
	s := Step{Text: Called(step) + " is called"}
	if step.Times > 0 {
		s.Text += ", and " + ending(step, gate.Success)
	}
	if step.Times > 1 {
		s.Text += ", " + text.Count(step.Times, "time")
	}
	switch d := d.(type) {
	case *gate.Allow:
		s.Verdict = "allow"
	case *gate.Refusal:
		s.Verdict, s.Reason = "refuse", d.Text
	default:
		s.Verdict = "ask"
	}
	s.Nets = p.nets(said)
	return s
}

// nets returns the nets' markings and, for a call, the nets' verdicts.
func (p *player) nets(said []gate.Verdict) []NetStep {
	says := map[string]string{}
	for _, s := range said {
		if word := verdictText(s); word != "" {
			says[s.Net] = word
		}
	}
	after := map[string]string{}
	var all []NetStep
	for _, n := range p.session.Nets() {
		info := p.v.nets[n.Name]
		marking := n.String()
		if n.Key == "" && n.Spent == "" {
			marking = p.v.tokensText(n)
		}
		after[n.Name] = marking
		step := NetStep{Net: n.Name, Rule: info.Rule, Says: says[n.Name], Marking: marking, Moved: p.before != nil && p.before[n.Name] != marking}
		if step.Says != "" || step.Moved {
			p.concerned[n.Name] = true
		}
		all = append(all, step)
	}
	p.before = after
	return all
}

// verdictText describes a net's verdict for a call. It returns "" if the verdict needs no
// description.
func verdictText(v gate.Verdict) string {
	by := ""
	if v.Transition != "" {
		by = " by " + v.Transition
	}
	switch {
	case v.Kind == gate.Free:
		return "free"
	case v.Kind == gate.Gated && v.Manual:
		return "asks a person, who approves" + by
	case v.Kind == gate.Gated:
		return "lets it pass" + by
	case v.Kind == gate.Blocked:
		return "blocks it"
	case v.Kind == gate.Yields:
		return "yields to other nets"
	}
	return ""
}
