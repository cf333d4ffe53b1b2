package simulate

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/sandbox"
	"github.com/petrigate/petrigate/internal/policy/verify"
)

// made is the call that a user wrote, under an id of its own.
func (s *Simulation) made(c Call, id int) gate.Call {
	call := s.call(c.Tool)
	call.ID, call.Args, call.Time = strconv.Itoa(id), c.Args, s.box.Now()
	return call
}

// Before makes a call that has to succeed.
func (s *Simulation) Before(c Call) error {
	call := s.made(c, 1)
	if r, ok := s.session.Call(call, sandbox.Yes).(*gate.Refusal); ok {
		return fmt.Errorf("--after: %s is refused, %s%s", c, blamed(r), r.Text)
	}
	s.session.End(call.ID, gate.Success) // it was admitted just now
	return nil
}

// blamed is the place of the first rule that refuses, with a colon.
func blamed(r *gate.Refusal) string {
	if len(r.Blocks) == 0 || r.Blocks[0].Rule.Line == 0 {
		return ""
	}
	return r.Blocks[0].Rule.String() + ": "
}

// An Explanation is all that is known of a call.
type Explanation struct {
	of       *Simulation
	call     Call
	names    []gate.Name
	verdicts []gate.Verdict
	states   map[string]gate.NetState
	Decision string        // "allow", "refuse", "ask"
	refusal  *gate.Refusal // or what a person is asked, or what nets in shadow would say; nil: nothing
	remedy   verify.Remedy // of a refusal
}

// Explain decides the call, and looks for the way out where it is refused.
func (s *Simulation) Explain(c Call) *Explanation {
	call, session := s.made(c, 1), s.session
	session.Tick(s.box.Now())
	e := &Explanation{of: s, call: c, names: s.result.Policy.Names(call), verdicts: session.Classify(call), states: make(map[string]gate.NetState)}
	for _, n := range session.Nets() {
		e.states[n.Name] = n
	}
	switch d := s.session.Call(call, sandbox.Later).(type) {
	case *gate.Refusal:
		e.Decision, e.refusal = "refuse", d
		e.remedy = s.guide.Remedy(session.Snapshot(), call, d)
	case *gate.Ask:
		e.Decision, e.refusal = "ask", d.Refusal()
	case *gate.Allow:
		e.Decision, e.refusal = "allow", d.Would
	}
	return e
}

// Report is the answer of explain, in the form that tools rely on.
type Report struct {
	Version  int             `json:"version"`
	Tool     string          `json:"tool"`
	Args     json.RawMessage `json:"args,omitempty"`
	Unknown  bool            `json:"unknown,omitempty"` // the tools are known, and none has this name
	Decision string          `json:"decision"`
	Names    []string        `json:"names"`
	Certain  []string        `json:"certain"` // of the names: they exempt, and make a call known
	Weak     []string        `json:"weak"`    // of the names: they restrict, and prove nothing
	Kind     gate.Kind       `json:"kind,omitempty"`
	Reason   string          `json:"reason,omitempty"`
	Would    string          `json:"would,omitempty"` // what nets in shadow would have said; kind and reason are then of that
	Nets     []explainedNet  `json:"nets"`
	Remedy   []string        `json:"remedy"` // calls that have to succeed before; null: there are none that would do, or it is not known
	Way      string          `json:"way,omitempty"`
	Why      string          `json:"why,omitempty"` // the remedy is not known
	Retry    float64         `json:"retryAfter,omitempty"`
}

type explainedNet struct {
	Name       string      `json:"name"`
	Verdict    string      `json:"verdict"` // "blocked", "yields", "gated", "free", "abstain"
	Manual     bool        `json:"manual,omitempty"`
	Shadow     bool        `json:"shadow,omitempty"`
	Transition string      `json:"transition"`
	Rule       policy.Rule `json:"rule"`
	Reason     string      `json:"reason"`
	Marking    string      `json:"marking"`
}

var verdictWords = [...]string{gate.Abstain: "abstain", gate.Free: "free", gate.Gated: "gated", gate.Blocked: "blocked", gate.Yields: "yields"}

// Report returns the explanation as it is printed; verbose, with every net.
func (e *Explanation) Report(verbose bool) Report {
	r := Report{
		Version: 1, Tool: e.call.Tool, Args: e.call.Args, Unknown: e.of.unknown(e.call.Tool), Decision: e.Decision,
		Names: []string{}, Certain: []string{}, Weak: []string{}, Nets: []explainedNet{}, Remedy: []string{},
	}
	for _, n := range e.names {
		r.Names = append(r.Names, n.Text)
		if n.Certain {
			r.Certain = append(r.Certain, n.Text)
		}
		if n.Weak {
			r.Weak = append(r.Weak, n.Text)
		}
	}
	for _, v := range e.verdicts {
		if v.Kind != gate.Abstain || verbose {
			r.Nets = append(r.Nets, e.net(v))
		}
	}
	if e.refusal != nil {
		r.Kind, r.Reason, r.Retry = e.refusal.Kind, e.refusal.Text, e.refusal.Retry.Seconds()
	}
	if e.Decision == "allow" {
		r.Would = sandbox.VerdictOf(e.refusal)
	}
	if e.Decision == "refuse" {
		r.Remedy, r.Way, r.Why = nil, e.way(), e.remedy.Why
		if e.remedy.Found {
			r.Remedy = append([]string{}, e.remedy.Calls()...)
		}
	}
	return r
}

func (e *Explanation) net(v gate.Verdict) explainedNet {
	n := explainedNet{
		Name: v.Net, Verdict: verdictWords[v.Kind], Manual: v.Manual, Shadow: v.Shadow, Transition: v.Transition,
		Rule: policy.Rule(v.Rule), Marking: e.states[v.Net].Marking.String(),
	}
	if e.refusal != nil {
		for _, b := range e.refusal.Blocks {
			if b.Net == v.Net {
				n.Reason = b.Reason
			}
		}
	}
	return n
}

// way is how the call would be allowed; empty where that is not known.
func (e *Explanation) way() string {
	switch {
	case e.remedy.None && e.refusal.Retry > 0:
		return "" // time will do
	case e.refusal.Kind == gate.KindValidation:
		return "Other arguments may be allowed."
	}
	return e.remedy.Sentence(e.call.Tool)
}
