package simulate

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/gate/toolnet"
	"github.com/petrigate/petrigate/internal/agenttool"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/pipefail"
	"github.com/petrigate/petrigate/internal/policy/sandbox"
)

// newCall converts a user's call to a gate call with the given ID.
func (s *Simulation) newCall(c Call, id int) gate.Call {
	if c.Asked != "" && !slices.ContainsFunc(s.readAs, func(other Call) bool { return other.Asked == c.Asked }) {
		s.readAs = append(s.readAs, c)
	}
	call := s.call(c.Tool)
	call.ID, call.Args, call.Time = strconv.Itoa(id), c.Args, s.box.Now()
	if args, ok := s.piped(&call); ok && s.source.Config != nil && s.source.Config.Shell.AddsPipefail() {
		call.Args = args
	}
	return call
}

// piped returns the arguments of a call to an agent's shell tool, with "set -o pipefail" inserted
// before the script. ok is true if the agent accepts the new script and the call then counts toward
// more requirements.
func (s *Simulation) piped(c *gate.Call) (args []byte, ok bool) {
	if !agenttool.TakesScript(c.Upstream) || !slices.Contains(agenttool.Shells(c.Upstream), c.Tool) {
		return nil, false
	}
	return pipefail.Add(s.result.Policy, *c)
}

// Before makes a call that precedes the call to be explained, and lets it succeed. It returns an
// error if the call is refused.
func (s *Simulation) Before(c Call) error {
	call := s.newCall(c, 1)
	if r, ok := s.session.Call(call, sandbox.Yes).(*gate.Refusal); ok {
		return fmt.Errorf("--after: %s is refused, %s%s", c, blamed(r), r.Text)
	}
	s.session.End(call.ID, gate.End{Outcome: gate.Success}) // the call was just admitted, so it can end
	return nil
}

// blamed returns the position of the first rule that refuses the call, followed by a colon, or the
// empty string if the position is unknown.
func blamed(r *gate.Refusal) string {
	if len(r.Blocks) == 0 || r.Blocks[0].Rule.Line == 0 {
		return ""
	}
	return r.Blocks[0].Rule.String() + ": "
}

// An Explanation explains the decision on a call. Its JSON encoding is the output of "petrigate
// explain --json".
type Explanation struct {
	Version  int             `json:"version"`
	Tool     string          `json:"tool"`
	ReadAs   string          `json:"readAs,omitempty"` // the agent's built-in tool denoted by Tool, if Tool is an unqualified name
	Args     json.RawMessage `json:"args,omitempty"`
	Changed  json.RawMessage `json:"changed,omitempty"` // arguments that the agent uses instead of Args; see shell.pipefail
	Unknown  bool            `json:"unknown,omitempty"` // whether all tools are known and none has the name in Tool
	Decision string          `json:"decision"`          // "allow", "refuse" or "ask"
	Names    []string        `json:"names"`
	Certain  []string        `json:"certain"` // names that the call certainly has; only these can exempt the call from a rule or from "default: deny"
	Weak     []string        `json:"weak"`    // names that can restrict the call but cannot satisfy a requirement
	Kind     gate.Kind       `json:"kind,omitempty"`
	Reason   string          `json:"reason,omitempty"`
	Would    string          `json:"would,omitempty"` // verdict of shadow nets; if not empty, Kind and Reason describe this verdict
	Nets     []explainedNet  `json:"nets"`
	Remedy   []string        `json:"remedy"` // calls that must succeed first; nil if none would help, or if the remedy is unknown
	Way      string          `json:"way,omitempty"`
	Why      string          `json:"why,omitempty"` // why the remedy is unknown; empty if it is known
	Retry    float64         `json:"retryAfter,omitempty"`
	Success  []condition     `json:"success,omitempty"` // success conditions of the policy that apply to the call

	people  int // number of people who must approve the call
	of      *Simulation
	verbose bool
	names   []gate.Name
	call    gate.Call
	exempt  []exemption
	states  map[string]gate.NetState
	refusal *gate.Refusal // refusal, approval request, or refusal by shadow nets; may be nil
}

// A condition is a success condition that applies to the call.
type condition struct {
	When string      `json:"when"`
	Rule policy.Rule `json:"rule"`
}

type explainedNet struct {
	Name       string      `json:"name"`
	Verdict    string      `json:"verdict"` // verdict of the net; one of verdictWords
	Manual     bool        `json:"manual,omitempty"`
	Shadow     bool        `json:"shadow,omitempty"`
	Transition string      `json:"transition"`
	Rule       policy.Rule `json:"rule"`
	Reason     string      `json:"reason"`
	Marking    string      `json:"marking"`

	people int // number of people who must approve the call
}

var verdictWords = [...]string{gate.Abstain: "abstain", gate.Free: "free", gate.Gated: "gated", gate.Blocked: "blocked", gate.Yields: "yields"}

// Explain decides on a call and explains the decision. For a refused call, it also looks for a
// remedy. If verbose is true, the explanation includes nets that take no part in the decision.
func (s *Simulation) Explain(c Call, verbose bool) *Explanation {
	call, session := s.newCall(c, 1), s.session
	session.Tick(s.box.Now())
	e := &Explanation{
		Version: 1, Tool: cmp.Or(c.Asked, c.Tool), Args: c.Args, Unknown: s.isUnknown(c.Tool),
		Names: []string{}, Certain: []string{}, Weak: []string{}, Nets: []explainedNet{}, Remedy: []string{},
		of: s, verbose: verbose, names: s.result.Policy.Names(call), call: call, states: make(map[string]gate.NetState),
	}
	if c.Asked != "" {
		e.ReadAs = c.Tool
	}
	if !bytes.Equal(call.Args, c.Args) {
		e.Changed = call.Args
	}
	for _, n := range e.names {
		e.Names = append(e.Names, n.Text)
		if n.Certain {
			e.Certain = append(e.Certain, n.Text)
		}
		if n.Weak {
			e.Weak = append(e.Weak, n.Text)
		}
	}
	for _, c := range s.result.Policy.Successes() {
		if c.AboutCall(&call) {
			e.Success = append(e.Success, condition{c.Source, policy.Rule(c.Rule)})
		}
	}
	for _, n := range session.Nets() {
		e.states[n.Name] = n
	}
	verdicts := session.Classify(call)
	switch d := session.Call(call, sandbox.Later).(type) {
	case *gate.Refusal:
		e.Decision, e.refusal = "refuse", d
		way := s.findRemedy(c, call, d)
		e.Remedy, e.Way, e.Why = nil, way.sentence, way.Why
		if way.Found {
			e.Remedy = append([]string{}, way.Calls()...)
		}
	case *gate.Ask:
		e.Decision, e.refusal, e.people = "ask", d.Refusal(), d.Approvals()
	case *gate.Allow:
		e.Decision, e.refusal, e.Would = "allow", d.Would, sandbox.VerdictOf(d.Would)
	}
	if r := e.refusal; r != nil {
		e.Kind, e.Reason, e.Retry = r.Kind, r.Text, r.Retry.Seconds()
	}
	for _, v := range verdicts {
		if v.Kind == gate.Abstain {
			e.exempt = append(e.exempt, e.exemptions(v)...)
		}
		if v.Kind != gate.Abstain || verbose {
			e.Nets = append(e.Nets, e.net(v))
		}
	}
	return e
}

func (e *Explanation) net(v gate.Verdict) explainedNet {
	n := explainedNet{
		Name: v.Net, Verdict: verdictWords[v.Kind], Manual: v.Manual, Shadow: v.Shadow, Transition: v.Transition,
		Rule: policy.Rule(v.Rule), Marking: e.states[v.Net].Marking.String(),
	}
	if t := list.Find(e.of.net(v.Net).Transitions, func(t gate.Transition) bool { return t.Name == v.Transition }); t != nil {
		n.people = t.Approvals
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

// An exemption records why a rule that lists a call does not apply to it: one of the call's names
// is exempt.
type exemption struct {
	rule gate.Position
	net  string
	name string
}

// exemptions returns the exemptions that make a net abstain from a call that it lists.
func (e *Explanation) exemptions(v gate.Verdict) []exemption {
	for _, t := range e.of.net(v.Net).Transitions {
		lists := slices.ContainsFunc(e.names, func(n gate.Name) bool { return names(t.Tools, n.Text) })
		spared := slices.IndexFunc(e.names, func(n gate.Name) bool { return n.Certain && names(t.Unless, n.Text) })
		if lists && spared >= 0 {
			return []exemption{{v.Rule, v.Net, e.names[spared].Text}}
		}
	}
	return nil
}

// names reports whether any of the tools has the given name or is a pattern that matches it.
func names(tools []gate.Tool, name string) bool {
	return slices.ContainsFunc(tools, func(t gate.Tool) bool {
		return t.Name == name || t.Kind == gate.Glob && toolnet.MatchGlob(t.Name, name)
	})
}
