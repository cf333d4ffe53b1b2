package verify

import (
	"slices"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/explore"
)

// DefaultStates is the default bound on the states of one search.
const DefaultStates = explore.DefaultStates

// A Tool is a tool that can be called, with its further physical names.
type Tool = callclass.Tool

// An Overlap is a pair of maps of one field that can match the same call.
type Overlap = callclass.Overlap

// Result is the answer to an assertion.
type Result = explore.Result

// The answers to an assertion.
const (
	Unknown = explore.Unknown
	Proved  = explore.Proved
	Refuted = explore.Refuted
)

// Options say what to verify, and bound the effort. The zero value is ready to use.
type Options struct {
	Prove []Assertion
	Tools []Tool // tools known to exist; tools that the policy names may exist as well
	Known bool   // no other tools exist, not even with the name of an action or label

	// Lacks returns the argument that the field reads although the tool's schema does not list it;
	// empty if the tool takes all of them. A call with it does not show that anything is possible.
	// If Lacks is nil, no schemas are known.
	Lacks func(tool string, f gate.Field) string

	Doubtful bool // Calls also returns calls without known arguments

	Conditions []string // CEL conditions that nets judge arguments by; arguments are derived from them

	States int         // maximum states of one search; less than 1: DefaultStates
	Stop   func() bool // asked from time to time; true ends the searches; nil: never

	passes     bool // calls unknown to all nets are admitted, regardless of the default
	groups     int  // maximum states of a group explored whole for liveness; 0: explore.GroupLimit
	inventions int  // bound on the names tried for patterns; 0: the default of package callclass
}

// A Report holds the findings about a policy before any call is made. It assumes that all nets are
// active and enforced, and covers a single session.
type Report struct {
	Names        []Name
	Proofs       []Proof // of Options.Prove, in order
	Losses       []Loss
	Open         []Question // open questions besides the Unknown and Unsure results in the report
	Groups       []Group
	Redundant    []Redundant
	Overlaps     []Overlap
	MoreOverlaps bool     // there may be more overlaps
	Gaps         []string // reasons why not all kinds of calls were considered; nothing is proved about the affected calls
	States       int      // states of the groups that were explored whole
	Visited      int      // states of all searches
}

// A Name holds the findings about a name that a net lists.
type Name struct {
	Tool     gate.Tool
	Callable Callable
	Shortest Trace  // if Possible: a shortest run of successful calls whose last call has the name
	Failing  Trace  // if AfterFailure: a run that leads to such a call
	Because  []Net  // if Impossible: nets that forbid it; none of them can be omitted
	Rough    bool   // a subset of Because might suffice, but not all subsets were tried
	Default  bool   // if Impossible: the default denies it
	Why      string // if Unsure: the reason
	Supposed string // if Unsure: the tool whose existence decides the result
}

// Callable says whether a name can be called.
type Callable uint8

const (
	Unsure       Callable = iota // not decided within the budget
	Possible                     // after successful calls
	AfterFailure                 // only after calls that fail or overlap
	Impossible
)

// A Net identifies a net by its name and the position of its rule.
type Net struct {
	Name string
	Rule gate.Position
}

// A Group is a set of nets that share calls, directly or through other nets.
type Group struct {
	Nets     []Net
	States   int  // reachable states over all outcomes and interleavings; 0: not all were visited
	Complete bool // all states were visited
	Deadlock Deadlock
}

// A Deadlock says whether the group can reach a state where no call that it gates can ever be
// admitted again, even if all calls in flight and all later calls succeed.
type Deadlock struct {
	Result  Result // Proved: no such state is reachable
	Trace   Trace  // leads to such a state
	Because []Net  // nets that forbid all calls from then on; none of them can be omitted
	Rough   bool   // a subset of Because might suffice, but not all subsets were tried
	Why     string // if Unknown: the reason
}

// A Redundant net never changes a verdict: with and without it, the same calls are admitted and the
// same approvals are requested.
type Redundant struct {
	Net     Net
	Because []Net // nets that forbid the same calls before it does
}

// A Trace is a run: calls that begin and end.
type Trace []Step

// A Step is the beginning or the end of a call.
type Step struct {
	Call    int           // number of the call in the trace, starting at 1
	Tool    string        // if the call begins
	Names   *gate.Call    // a call with the names of this one; nil: the names follow from the tool
	Args    string        // JSON; empty: {}
	Result  string        // JSON that a successful call must return; empty: any
	Name    string        // readable name: the label, or the tool
	Weak    bool          // the success of the call is not evidence of Name
	Wait    time.Duration // more than 0: not a call, but the passage of time
	Ends    bool          // the call ends
	Outcome gate.Outcome  // if Ends
	Times   int           // more than 1: this many consecutive successful calls

	class *callclass.Class // if the call begins; nil after the run was replayed
}

// Calls returns the names of the calls that begin, in order.
func (t Trace) Calls() []string {
	var names []string
	for _, s := range t {
		if !s.Ends && s.Wait == 0 {
			names = append(names, s.Name)
		}
	}
	return names
}

func trace(ms []explore.Move) Trace { return traceTo(ms, nil) }

// traceTo returns the trace of a run with values that the calls in then can have as well.
func traceTo(ms, then []explore.Move) Trace {
	var t Trace
	waits := make(map[int]bool)
	var classes []*callclass.Class
	for _, mv := range slices.Concat(ms, then) {
		if mv.Class != nil {
			classes = append(classes, mv.Class)
		}
	}
	values := callclass.Common(classes)
	for _, mv := range ms {
		if mv.Class == nil && waits[mv.Call] {
			continue
		}
		s := Step{Call: mv.Call + 1, Ends: mv.Class == nil, Outcome: mv.End, Times: mv.Times}
		if mv.Class != nil {
			s.Tool, s.Name, s.Wait = mv.Class.Tool, mv.Class.Name(), mv.Class.Wait
			s.Args, s.Result = mv.Class.Filled(values)
			s.Weak = mv.Class.Weakly(s.Name)
			s.class = mv.Class
			waits[mv.Call] = s.Wait > 0
		}
		t = append(t, s)
	}
	return t
}

func (m *prover) named(nets []int) []Net {
	var out []Net
	for _, n := range nets {
		out = append(out, Net{m.Nets[n].Info.Name, m.Nets[n].Info.Rule})
	}
	return out
}
