package verify

import (
	"slices"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/explore"
)

// A Trace is a run: the sequence of beginnings and ends of its calls.
type Trace []Step

// A Step is the beginning or the end of a call.
type Step struct {
	Call    int           // number of the call in the trace, starting at 1
	Tool    string        // tool, if the step begins a call
	Names   *gate.Call    // sample call with the names of this call; nil if the tool alone determines the names
	Args    string        // JSON arguments; empty means {}
	Result  string        // JSON result that the call must return on success; empty means any
	Name    string        // human-readable name: the last name that a map entry or an action of the policy gives the call; if there are no such names, the tool
	Weak    bool          // whether Name only restricts the call; the success of the call then does not count toward requirements for Name
	Wait    time.Duration // if positive, the step is not a call but the passage of this amount of time
	Ends    bool          // whether the step ends a call instead of beginning one
	Outcome gate.Outcome  // outcome, if the step ends the call
	Times   int           // if greater than 1, the number of consecutive successful calls that the step represents

	class *callclass.Class // class of the call, if the step begins one; nil once the run has been replayed
}

// A Net identifies a net by its name and the position of its rule.
type Net struct {
	Name string
	Rule gate.Position
}

// DefaultStates is the default maximum number of states per search.
const DefaultStates = explore.DefaultStates

// A Tool is a callable tool and its aliases. An alias is a further name that the tool has
// independently of the policy.
type Tool = callclass.Tool

// An Overlap is a pair of map entries that read the same field and can match the same call.
type Overlap = callclass.Overlap

// A Result tells whether an assertion was proved, was refuted, or remains unknown.
type Result = explore.Result

// The possible results of an assertion.
const (
	Unknown = explore.Unknown
	Proved  = explore.Proved
	Refuted = explore.Refuted
)

// Calls returns the names of the calls, in the order that they begin.
func (t Trace) Calls() []string {
	calls := list.Filter(t, func(s Step) bool { return !s.Ends && s.Wait == 0 })
	return list.Map(calls, func(s Step) string { return s.Name })
}

func trace(ms []explore.Move) Trace { return traceTo(ms, nil) }

// traceTo converts the run ms into a trace. The calls in then continue the run; if possible,
// traceTo chooses argument values that suit these calls as well.
func traceTo(ms, then []explore.Move) Trace {
	var t Trace
	waits := make(map[int]bool)
	values := callclass.CommonValues(explore.ClassesOf(slices.Concat(ms, then)))
	for _, mv := range ms {
		if mv.Class == nil && waits[mv.Call] {
			continue
		}
		s := Step{Call: mv.Call + 1, Ends: mv.Class == nil, Outcome: mv.End, Times: mv.Times}
		if mv.Class != nil {
			s.Tool, s.Name, s.Wait = mv.Class.Tool, mv.Class.Name(), mv.Class.Wait
			s.Args, s.Result = mv.Class.Fill(values)
			s.Weak = mv.Class.CarriesWeakly(s.Name)
			s.class = mv.Class
			waits[mv.Call] = s.Wait > 0
		}
		t = append(t, s)
	}
	return t
}
