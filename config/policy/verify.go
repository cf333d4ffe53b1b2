package policy

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/internal/policy/verify"
)

// VerifyOptions limit the effort of [Policy.Verify]. The zero value is ready to use.
type VerifyOptions struct {
	States int // maximum number of states per search; less than 1 means 50,000
}

// A Result is the outcome of an attempt to prove a claim: proved, refuted or unknown.
type Result string

const (
	Proved  Result = "proved"
	Refuted Result = "refuted"
	Unknown Result = "unknown"
)

// A Report holds the findings of [Policy.Verify] about a policy. They apply to a single session,
// from the session's start. They assume that the policy's active nets are enforced, even if the
// configuration's mode is "shadow". A net that is itself in shadow mode is assumed to refuse
// nothing.
type Report struct {
	Proofs    []Proof  // attempts to prove the configuration's claims, in the order of the claims
	Names     []Name   // for each call name that a net lists, whether calls with this name are possible
	Groups    []Group  // groups of nets that share calls
	Redundant []Net    // nets that never change a verdict
	Gaps      []string // reasons why some kinds of calls were not considered; nothing is proved about such calls

	Open []Question // questions that this report leaves open, in addition to the results Unknown and Unsure
}

// A Question describes something that a report leaves open.
type Question struct {
	Topic Topic
	Tools []gate.Tool // tools that the question is about
	Nets  []Net       // nets that the question is about
	Why   string      // why the question is open: a limit that was reached, or a feature that is not considered
}

// A Topic describes what a [Question] asks about its Tools and Nets.
type Topic string

const (
	Lost      Topic = "lost"      // whether a failure can make Tools permanently unavailable
	Useless   Topic = "redundant" // which of Nets never change a verdict
	Deadlocks Topic = "deadlock"  // whether Nets can forbid all further calls
	Causes    Topic = "because"   // whether all of Nets are needed to forbid calls to Tools (if Tools is empty, to forbid all further calls)
)

// A Group is a set of nets that share calls, directly or through other nets.
type Group struct {
	Nets         []Net
	DeadlockFree Result // whether the group is free of deadlocks; if Refuted, Trace leads to a state where none of the group's calls can ever be admitted again
	Trace        []Step
	Because      []Net  // nets that together forbid all calls after Trace
	Why          string // explanation, if DeadlockFree is Unknown
}

// A Net identifies a net by name and position.
type Net struct {
	Name string
	Rule gate.Position
}

// A Proof describes an attempt to prove a claim, with its result and the reasons for it.
type Proof struct {
	Claim  string // claim, written as a line of rules
	Rule   gate.Position
	Result Result

	Counterexample []Step // if Result is Refuted, a sequence of steps that violates the claim, usually a shortest one; empty if no single sequence violates it
	Witness        []Step // steps that lead to the call of a "reachable" claim, if Result is Proved
	Because        []Net  // nets that cause the result; if it is Refuted, every one of them is needed, unless Report.Open contains a question about this with the topic Causes
	Why            string // explanation, if Result is Unknown
}

// A Name is a call name that a net lists, with the findings about calls with this name.
type Name struct {
	Tool     gate.Tool
	Callable Callable
	Shortest []Step // shortest sequence of steps that ends with a call of this name
	Because  []Net  // if Callable is Never, nets that together forbid all calls with the name; every one of them is needed, unless Report.Open contains a question about this with the topic Causes
	Why      string // explanation, if Callable is Unsure
}

// Callable describes whether calls with a given name are possible.
type Callable string

const (
	Unsure       Callable = "unknown"
	Possible     Callable = "possible"      // possible even if no calls fail or overlap
	AfterFailure Callable = "after-failure" // possible only after some calls fail or overlap
	Never        Callable = "never"
)

// A Step is the beginning or end of a call, or the passage of time.
type Step struct {
	Call    int           // number of the call in a sequence of steps, starting at 1
	Tool    string        // tool that is called, if the step begins a call
	Args    string        // arguments as JSON, if the step begins a call; empty means {}
	Result  string        // result, as JSON, that the call must return on success; empty means any
	Name    string        // name of the call for messages: the last name that the policy gives the call or, without one, Tool
	Weak    bool          // whether Name is weak: the call can be refused because of this name, but its success does not count under this name
	Wait    time.Duration // if positive, the step is not a call but the passage of this amount of time
	Ends    bool          // whether the step ends the call
	Outcome gate.Outcome  // outcome, if the step ends the call
	Times   int           // number of consecutive successful calls that the step stands for, if greater than 1
}

// Verify proves the configuration's claims and determines which calls are possible. Once ctx is
// done, the remaining results are unknown. Verify does not consider validators, arguments or time,
// so a call reported as possible may still be refused because of them.
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
	r.Names = list.Map(found.Names, nameOf)
	r.Groups = list.Map(found.Groups, func(g verify.Group) Group {
		return Group{
			Nets: nets(g.Nets), DeadlockFree: Result(g.Deadlock.Result.String()),
			Trace: steps(g.Deadlock.Trace), Because: nets(g.Deadlock.Because), Why: g.Deadlock.Why,
		}
	})
	r.Redundant = list.Map(found.Redundant, func(n verify.Redundant) Net { return Net(n.Net) })
	r.Open = list.Map(found.Open, func(q verify.Question) Question {
		return Question{Topic: Topic(q.Topic.String()), Tools: q.Tools, Nets: nets(q.Nets), Why: q.Why}
	})
	return r, nil
}

// enforcing returns a policy in enforce mode that contains only the active nets. It also returns
// the names of the inactive nets.
func (p *Policy) enforcing() (active *gate.Policy, idle []string, err error) {
	whole := p.Policy
	if p.source.Mode == "shadow" { // verify the policy as it will behave once it is enforced
		source := p.source
		source.Mode = ""
		result, err := policy.Build(source)
		if err != nil {
			return nil, nil, err
		}
		if whole, err = p.withNets(result.Policy.Nets(), result.Policy.Options()); err != nil {
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
	return list.Map(t, func(s verify.Step) Step {
		return Step{
			Call: s.Call, Tool: s.Tool, Args: s.Args, Result: s.Result, Name: s.Name, Weak: s.Weak,
			Wait: s.Wait, Ends: s.Ends, Outcome: s.Outcome, Times: s.Times,
		}
	})
}

func nets(found []verify.Net) []Net {
	return list.Map(found, func(n verify.Net) Net { return Net(n) })
}

// A Remedy describes the calls that make a refused call possible.
type Remedy struct {
	Found bool   // whether the refused call is admitted after Steps, if each step succeeds before the next begins
	None  bool   // whether the refused call remains impossible, whatever other calls the session makes
	Steps []Step // calls to make, not including the refused call
	Asks  []int  // indexes in Steps of the calls that require approval; len(Steps) stands for the refused call
	Text  string // sentence for the client whose call was refused; empty if no remedy is known
}

// Remedy returns the shortest sequence of calls that makes the call c possible. r is the refusal of
// c in the current state of session s. Remedy does not modify s.
func (p *Policy) Remedy(s *gate.Session, c gate.Call, r *gate.Refusal) Remedy {
	found := p.guide.Remedy(s.Snapshot(), c, r)
	return Remedy{Found: found.Found, None: found.None, Steps: steps(found.Steps), Asks: slices.Sorted(maps.Keys(found.Asks)), Text: found.Sentence(c.Tool)}
}
