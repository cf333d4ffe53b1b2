package policy

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/internal/policy/verify"
)

// VerifyOptions bound what [Policy.Verify] may cost. The zero value is ready to use.
type VerifyOptions struct {
	States int // of one search; less than 1: 50,000
}

// Result is what came of a claim: that it holds, that it does not, or neither.
type Result string

const (
	Proved  Result = "proved"
	Refuted Result = "refuted"
	Unknown Result = "unknown"
)

// A Report is what is known of a policy before anybody calls: of its active nets
// in one session, each of which enforces.
type Report struct {
	Proofs    []Proof  // of what the configuration claims, in its order
	Names     []Name   // that the nets list
	Groups    []Group  // of nets that share calls
	Redundant []Net    // that never change a verdict
	Gaps      []string // why not all kinds of calls are known; what they touch is then not proved

	Open []Question // that are not answered, besides what is Unknown or Unsure
}

// A Question is one that a report does not answer.
type Question struct {
	Topic Topic
	Tools []gate.Tool // that it is about
	Nets  []Net       // likewise
	Why   string      // it is open: a bound that was reached, or what is not looked at
}

// Topic is what the question is about.
type Topic string

const (
	Lost      Topic = "lost"      // whether a failure can take away Tools for good
	Useless   Topic = "redundant" // of each of Nets, whether it never changes a verdict
	Deadlocks Topic = "deadlock"  // whether Nets can forbid all further calls
	Causes    Topic = "because"   // whether all of Nets are needed to forbid Tools, or where there are none all further calls
)

// A Group is nets that share calls, directly or through others.
type Group struct {
	Nets         []Net
	DeadlockFree Result // Refuted: after Trace none of its calls can be admitted any more
	Trace        []Step
	Because      []Net  // forbid all calls from there on
	Why          string // where it is Unknown
}

// A Net is a net as its author named it, and where.
type Net struct {
	Name string
	Rule gate.Position
}

// A Proof is what came of a claim.
type Proof struct {
	Claim  string // as a line of rules
	Rule   gate.Position
	Result Result

	Counterexample []Step // the shortest, where it is Refuted and a run shows it
	Witness        []Step // of "reachable", where it is Proved
	Because        []Net  // nets that cause it; where it is Refuted, none of them can be left out
	Why            string // where it is Unknown
}

// A Name is what is known of the calls that carry a name.
type Name struct {
	Tool     gate.Tool
	Callable Callable
	Shortest []Step // the way to one; the last call carries the name
	Because  []Net  // where it is Never: nets that forbid it, none of which can be left out
	Why      string // where it is not known
}

// Callable says whether a name can be called.
type Callable string

const (
	Unsure       Callable = "unknown"
	Possible     Callable = "possible"      // after successful calls
	AfterFailure Callable = "after-failure" // but only after calls that fail, or overlap
	Never        Callable = "never"
)

// A Step of a run is a call that begins, how one ends, or that time passes.
type Step struct {
	Call    int           // its number in the run, from 1
	Tool    string        // of a call that begins
	Args    string        // JSON; empty: {}
	Result  string        // JSON that the call has to return where it succeeds; empty: any
	Name    string        // how a person would call it: its label, or the tool
	Weak    bool          // that it succeeds is no evidence of Name
	Wait    time.Duration // more than 0: it is no call, but that much time passes
	Ends    bool          // the call ends
	Outcome gate.Outcome  // where it ends
	Times   int           // more than 1: so many calls, one after the other, all successful
}

// Verify proves what the configuration claims, and finds out what can be called.
// When ctx is done it says of the rest that it is not known. Of what validators
// judge, arguments and time, it knows nothing: what it says can happen may still be
// refused by them.
func (p *Policy) Verify(ctx context.Context, o VerifyOptions) (*Report, error) {
	active, idle, err := p.enforcing()
	if err != nil {
		return nil, err
	}
	options := verify.Options{
		Tools: p.tools(), Known: p.options.Tools != nil, States: o.States, Lacks: p.lacks(),
		Stop: func() bool { return ctx.Err() != nil },
	}
	for _, c := range p.claims {
		options.Prove = append(options.Prove, check.Assertion(c))
	}
	found := verify.Policy(active, options)
	r := &Report{Gaps: found.Gaps}
	for i, c := range p.claims {
		p := found.Proofs[i]
		proof := Proof{
			Claim: c.Text, Rule: c.Rule, Result: Result(p.Result.String()),
			Counterexample: steps(p.Counterexample), Witness: steps(p.Witness), Because: nets(p.Because), Why: p.Why,
		}
		if slices.Contains(idle, c.Net) {
			proof = Proof{Claim: c.Text, Rule: c.Rule, Result: Unknown, Why: "the net is not active"}
		}
		r.Proofs = append(r.Proofs, proof)
	}
	for _, n := range found.Names {
		r.Names = append(r.Names, nameOf(n))
	}
	for _, g := range found.Groups {
		r.Groups = append(r.Groups, Group{
			Nets: nets(g.Nets), DeadlockFree: Result(g.Deadlock.Result.String()),
			Trace: steps(g.Deadlock.Trace), Because: nets(g.Deadlock.Because), Why: g.Deadlock.Why,
		})
	}
	for _, n := range found.Redundant {
		r.Redundant = append(r.Redundant, Net(n.Net))
	}
	for _, q := range found.Open {
		r.Open = append(r.Open, Question{Topic: Topic(q.Topic.String()), Tools: q.Tools, Nets: nets(q.Nets), Why: q.Why})
	}
	return r, nil
}

// enforcing is the policy of the active nets, none of them in shadow as a whole,
// and the names of those that are not active.
func (p *Policy) enforcing() (active *gate.Policy, idle []string, err error) {
	whole := p.Policy
	if p.source.Mode == "shadow" { // what is looked at is what it will be when it is enforced
		source := p.source
		source.Mode = ""
		result, err := policy.Build(source)
		if err != nil {
			return nil, nil, err
		}
		if whole, err = p.with(result.Policy.Nets(), result.Policy.Options()); err != nil {
			return nil, nil, err
		}
	}
	var nets []gate.Net
	for _, n := range whole.Nets() {
		if p.Active == nil || slices.Contains(p.Active, n.Name) {
			nets = append(nets, n.Net)
		} else {
			idle = append(idle, n.Name)
		}
	}
	active, err = gate.NewPolicy(nets, whole.Options())
	return active, idle, err
}

func nameOf(n verify.Name) Name {
	out := Name{Tool: n.Tool, Callable: Unsure, Shortest: steps(n.Shortest), Because: nets(n.Because), Why: n.Why}
	switch n.Callable {
	case verify.Possible:
		out.Callable = Possible
	case verify.AfterFailure:
		out.Callable, out.Shortest = AfterFailure, steps(n.Failing)
	case verify.Impossible:
		out.Callable = Never
	}
	return out
}

func steps(t verify.Trace) []Step {
	var out []Step
	for _, s := range t {
		out = append(out, Step{
			Call: s.Call, Tool: s.Tool, Args: s.Args, Result: s.Result, Name: s.Name, Weak: s.Weak,
			Wait: s.Wait, Ends: s.Ends, Outcome: s.Outcome, Times: s.Times,
		})
	}
	return out
}

func nets(found []verify.Net) []Net {
	var out []Net
	for _, n := range found {
		out = append(out, Net(n))
	}
	return out
}

// A Remedy is the way from a refusal to an admission of the call.
type Remedy struct {
	Found bool   // Steps lead there; each call succeeds before the next begins
	None  bool   // nothing in this session leads there
	Steps []Step // without the refused call itself
	Asks  []int  // which of Steps a person has to approve; len(Steps) is the refused call
	Text  string // a sentence for who was refused; empty where nothing is known
}

// Remedy is the shortest way from the state of the session to an admission of c,
// which was refused with r. The session is not changed.
func (p *Policy) Remedy(s *gate.Session, c gate.Call, r *gate.Refusal) Remedy {
	found := p.guide.Remedy(s.Snapshot(), c, r)
	return Remedy{Found: found.Found, None: found.None, Steps: steps(found.Steps), Asks: slices.Sorted(maps.Keys(found.Asks)), Text: found.Sentence(c.Tool)}
}
