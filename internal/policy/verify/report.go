package verify

import (
	"slices"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/explore"
)

// DefaultStates is how many states one search looks at where nothing else is said.
const DefaultStates = explore.DefaultStates

// A Tool is a tool that can be called, with its further physical names.
type Tool = callclass.Tool

// An Overlap is two maps of one field that can match one call.
type Overlap = callclass.Overlap

// Result is the answer to an assertion.
type Result = explore.Result

// The answers to an assertion.
const (
	Unknown = explore.Unknown
	Proved  = explore.Proved
	Refuted = explore.Refuted
)

// Options say what to verify, and how much work it may be. The zero value is
// ready to use.
type Options struct {
	Prove []Assertion
	Tools []Tool // that are known to be there; those that the policy speaks of may be there too
	Known bool   // Tools are all that there is: none is called as an action, or as what a map gives

	// Lacks returns the argument that the field reads and the tool does not take, by its
	// schema; empty: none. Nothing is possible by a call with it. Nil: no schema is known.
	Lacks func(tool string, f gate.Field) string

	Doubtful bool // Calls returns calls for which no arguments are known, too

	Conditions []string // in CEL, by which nets judge arguments: some are made of what these name

	States int         // of one search; less than 1: DefaultStates
	Stop   func() bool // asked now and then; true ends the searches; nil: never

	passes     bool // what no net knows passes, whatever the default is
	groups     int  // states of a group, up to which it is asked whole whether calls are always possible; 0: groupLimit
	inventions int  // how many names are tried of those that patterns match; 0: maxInventions
}

// A Report is what is known of a policy before anybody calls anything. It is
// about nets that are all active and enforced, of one session.
type Report struct {
	Names        []Name
	Proofs       []Proof // of Options.Prove, in order
	Losses       []Loss
	Open         []Question // that the report does not answer, besides what is Unknown or Unsure in it
	Groups       []Group
	Redundant    []Redundant
	Overlaps     []Overlap
	MoreOverlaps bool     // there may be more of them
	Gaps         []string // why not all kinds of calls were looked at; nothing is proved of those that it concerns
	States       int      // of the groups that could be explored whole
	Visited      int      // states of all searches
}

// A Name is what is known of a name that a net lists.
type Name struct {
	Tool     gate.Tool
	Callable Callable
	Shortest Trace  // of successful calls, the last one carries the name; where Callable is Possible
	Failing  Trace  // a run that gets there, where Callable is AfterFailure
	Because  []Net  // where Callable is Impossible: nets that forbid it, none of which can be left out
	Rough    bool   // fewer of Because may do, and not all were tried
	Default  bool   // where Callable is Impossible: the default denies it
	Why      string // where Callable is Unsure
	Supposed string // where Callable is Unsure: the tool of which it depends whether it is there
}

// Callable says whether a name can be called.
type Callable uint8

const (
	Unsure       Callable = iota // it did not fit the budget
	Possible                     // after successful calls
	AfterFailure                 // but only after calls that fail, or overlap
	Impossible
)

// A Net names a net in the words of the user.
type Net struct {
	Name string
	Rule gate.Position
}

// A Group is the nets that share calls, directly or through others.
type Group struct {
	Nets     []Net
	States   int  // that can be reached, over all outcomes and interleavings; 0: not all were visited
	Complete bool // they all were
	Deadlock Deadlock
}

// A Deadlock is whether a state of the group can be reached in which no call
// that it gates can ever be admitted again, though all calls that are in
// flight and all that come succeed.
type Deadlock struct {
	Result  Result // Proved: there is none
	Trace   Trace  // leads into it
	Because []Net  // forbid all calls from there on; none of them can be left out
	Rough   bool   // fewer of Because may do, and not all were tried
	Why     string // where it is Unknown
}

// A Redundant net never changes a verdict: with and without it the same calls
// pass, and the same questions are asked.
type Redundant struct {
	Net     Net
	Because []Net // that forbid before it does
}

// A Trace is a run: calls that begin and end.
type Trace []Step

// A Step is a call that begins, or how one ends.
type Step struct {
	Call    int           // its number in the trace, from 1
	Tool    string        // of a call that begins
	Names   *gate.Call    // a call with its names; nil: it has those of its tool
	Args    string        // JSON; empty: {}
	Result  string        // JSON that the call has to return where it succeeds; empty: any
	Name    string        // how a person would call it: its label, or the tool
	Weak    bool          // that it succeeds is no evidence of Name
	Wait    time.Duration // more than 0: it is no call, but that much time passes
	Ends    bool          // the call ends
	Outcome gate.Outcome  // where it ends
	Times   int           // more than 1: so many calls, one after the other, all successful

	class *callclass.Class // of a call that begins; nil once the run was played
}

// Calls are the names of the calls that begin, in order.
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

// traceTo is the trace of a run with values that calls which come after it can have too.
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
