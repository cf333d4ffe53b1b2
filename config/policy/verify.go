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

// VerifyOptions bound the effort of [Policy.Verify]. The zero value is ready to use.
type VerifyOptions struct {
	States int // maximum states of one search; less than 1: 50,000
}

// Result is the result of a claim.
type Result string

const (
	Proved  Result = "proved"
	Refuted Result = "refuted"
	Unknown Result = "unknown"
)

// A Report holds the findings about a policy before any call is made. It assumes that its active
// nets are enforced, and covers a single session.
type Report struct {
	Proofs    []Proof  // claims of the configuration, in order
	Names     []Name   // names that the nets list
	Groups    []Group  // groups of nets that share calls
	Redundant []Net    // nets that never change a verdict
	Gaps      []string // reasons why not all kinds of calls are known; nothing is proved about the affected ones

	Open []Question // open questions besides the Unknown and Unsure results
}

// A Question is a question that a report leaves open.
type Question struct {
	Topic Topic
	Tools []gate.Tool // tools that it is about
	Nets  []Net       // nets that it is about
	Why   string      // the reason: a bound that was reached, or a feature that is not considered
}

// Topic is the subject of a question.
type Topic string

const (
	Lost      Topic = "lost"      // whether a failure can make Tools permanently unavailable
	Useless   Topic = "redundant" // for each of Nets, whether it never changes a verdict
	Deadlocks Topic = "deadlock"  // whether Nets can forbid all further calls
	Causes    Topic = "because"   // whether all of Nets are needed to forbid Tools, or all further calls if Tools is empty
)

// A Group is a set of nets that share calls, directly or through other nets.
type Group struct {
	Nets         []Net
	DeadlockFree Result // Refuted: after Trace, none of its calls can be admitted any more
	Trace        []Step
	Because      []Net  // nets that forbid all calls from then on
	Why          string // if Unknown: the reason
}

// A Net is the name of a net and its position.
type Net struct {
	Name string
	Rule gate.Position
}

// A Proof is the result of a claim.
type Proof struct {
	Claim  string // as a line of rules
	Rule   gate.Position
	Result Result

	Counterexample []Step // if Refuted: a shortest run that violates the claim, if a run can show it
	Witness        []Step // for "reachable", if Proved
	Because        []Net  // nets that cause the result; if Refuted, none of them can be omitted
	Why            string // if Unknown: the reason
}

// A Name holds the findings about the calls with a name.
type Name struct {
	Tool     gate.Tool
	Callable Callable
	Shortest []Step // a shortest run to such a call, which is its last
	Because  []Net  // if Never: nets that forbid it; none of them can be omitted
	Why      string // reason for an unknown result
}

// Callable says whether a name can be called.
type Callable string

const (
	Unsure       Callable = "unknown"
	Possible     Callable = "possible"      // after successful calls
	AfterFailure Callable = "after-failure" // only after calls that fail or overlap
	Never        Callable = "never"
)

// A Step of a run is the beginning or the end of a call, or the passage of time.
type Step struct {
	Call    int           // number of the call in the run, starting at 1
	Tool    string        // if the call begins
	Args    string        // JSON arguments of a call that begins; empty: {}
	Result  string        // JSON that a successful call must return; empty: any
	Name    string        // readable name: the label, or the tool
	Weak    bool          // the success of the call is not evidence of Name
	Wait    time.Duration // more than 0: not a call, but the passage of time
	Ends    bool          // the call ends
	Outcome gate.Outcome  // outcome of a call that ends
	Times   int           // more than 1: this many consecutive successful calls
}

// Verify proves the claims of the configuration, and determines which calls are possible. When ctx
// is done, the remaining results are unknown. Verify does not consider validators, arguments or
// time: a call that it reports as possible may still be refused by these.
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

// enforcing returns the policy of the active nets, enforced even if the policy is in shadow mode,
// and the names of the inactive nets.
func (p *Policy) enforcing() (active *gate.Policy, idle []string, err error) {
	whole := p.Policy
	if p.source.Mode == "shadow" { // verify the policy as it will be when it is enforced
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

// A Remedy describes the calls that lead from a refusal to an admission of the call.
type Remedy struct {
	Found bool   // Steps lead there; each call succeeds before the next begins
	None  bool   // nothing in this session leads there
	Steps []Step // without the refused call itself
	Asks  []int  // steps that require approval; len(Steps) stands for the refused call
	Text  string // a sentence for the refused client; empty if no remedy is known
}

// Remedy returns the shortest way from the state of the session to an admission of c, which was
// refused with r. It does not change the session.
func (p *Policy) Remedy(s *gate.Session, c gate.Call, r *gate.Refusal) Remedy {
	found := p.guide.Remedy(s.Snapshot(), c, r)
	return Remedy{Found: found.Found, None: found.None, Steps: steps(found.Steps), Asks: slices.Sorted(maps.Keys(found.Asks)), Text: found.Sentence(c.Tool)}
}
