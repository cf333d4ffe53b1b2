package verify

import (
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/explore"
)

// A Report holds the findings about a policy. They are made before any call. The report assumes
// that all nets are active and enforced, and it covers a single session.
type Report struct {
	Names        []Name
	Proofs       []Proof // the results for the assertions in Options.Prove, in the same order
	Losses       []Loss
	Open         []Question // open questions, except for the Unknown and Unsure results in this report
	Groups       []Group
	Redundant    []Redundant
	Overlaps     []Overlap
	MoreOverlaps bool     // whether there may be more overlaps
	Gaps         []string // reasons why some kinds of calls were not considered; nothing is proved about the affected calls
	States       int      // total number of states in the groups that were explored completely
	Visited      int      // number of states visited by all searches
}

// A Name holds the findings about a name that a net lists.
type Name struct {
	Tool     gate.Tool
	Callable Callable
	Shortest Trace  // if Possible, a shortest run of successful calls whose last call has the name
	Failing  Trace  // if AfterFailure, a run with a failure or overlapping calls that leads to a call with the name
	Because  []Net  // if Impossible, nets that forbid all calls with the name; none of them can be omitted
	Rough    bool   // whether a subset of Because might suffice, because not all subsets were tried
	Default  bool   // if Impossible, the default denies all calls with the name
	Why      string // if Unsure, the reason
	Supposed string // if Unsure, the tool whose existence decides the result; may be empty
}

// Callable describes whether a name can be called.
type Callable uint8

const (
	Unsure       Callable = iota // not decided within the limits
	Possible                     // possible after successful calls
	AfterFailure                 // possible only after calls that fail or overlap
	Impossible
)

// A Group is a set of nets that share calls, directly or through other nets.
type Group struct {
	Nets     []Net
	States   int  // number of reachable states over all outcomes and interleavings; 0: not all were visited
	Complete bool // all states were visited
	Deadlock Deadlock
}

// A Deadlock describes whether a group can reach a state that permanently forbids every call that
// the group gates, even if all calls in flight and all later calls succeed.
type Deadlock struct {
	Result  Result // if Proved, no such state is reachable
	Trace   Trace  // if Refuted, a run that leads to such a state
	Because []Net  // if Refuted, nets that forbid all calls in that state and later; none of them can be omitted
	Rough   bool   // whether a subset of Because might suffice, because not all subsets were tried
	Why     string // if Unknown, the reason
}

// A Redundant describes a net that never changes a verdict: with and without it, the same calls are
// admitted and the same approvals are requested.
type Redundant struct {
	Net     Net
	Because []Net // nets that already forbid the same calls
}

// A Loss is a set of names that become permanently unavailable after a run with failures, but not
// after any run without failures.
type Loss struct {
	Tools   []gate.Tool
	Trace   Trace // a shortest run that makes Tools unreachable by successful calls
	Because []Net // nets that forbid Tools after Trace; none of them can be omitted
	Rough   bool  // whether a subset of Because might suffice, because not all subsets were tried
}

// A Question is a question that the report leaves open.
type Question struct {
	Topic Topic
	Tools []gate.Tool // tools that the question is about
	Nets  []Net       // nets that the question is about
	Why   string      // the reason why the question is open
}

// A Topic is the subject of a question.
type Topic uint8

// These are the topics of questions.
const (
	TopicLost      Topic = iota // whether a failure can make Tools permanently unavailable
	TopicRedundant              // for each of Nets, whether it ever changes a verdict
	TopicDeadlock               // whether Nets can forbid all further calls
	TopicBecause                // whether all of Nets are needed to forbid Tools, or all further calls if Tools is empty
)

// String returns the topic as printed by "check --json".
func (t Topic) String() string { return [...]string{"lost", "redundant", "deadlock", "because"}[t] }

// open returns the open question that has the given topic and reason. If none exists yet, open adds
// one.
func (r *Report) open(t Topic, why string) *Question {
	at := slices.IndexFunc(r.Open, func(q Question) bool { return q.Topic == t && q.Why == why })
	if at < 0 {
		at = len(r.Open)
		r.Open = append(r.Open, Question{Topic: t, Why: why})
	}
	return &r.Open[at]
}

// lost adds tool t to the loss in the report that is otherwise equal to l. If no such loss exists,
// it adds l as a new loss.
func (r *Report) lost(t gate.Tool, l Loss) {
	at := slices.IndexFunc(r.Losses, func(o Loss) bool { return slices.Equal(o.Because, l.Because) && slices.Equal(o.Trace, l.Trace) })
	if at < 0 {
		at = len(r.Losses)
		r.Losses = append(r.Losses, l)
	}
	r.Losses[at].Tools = append(r.Losses[at].Tools, t)
}

// whyFewer is the reason given if it is unknown whether all of the nets are needed.
const whyFewer = "not every combination of rules was tried"

// askOpen adds the questions that other fields of the report leave open.
func (r *Report) askOpen() {
	need := func(rough bool, nets []Net, tools ...gate.Tool) {
		if rough {
			r.Open = append(r.Open, Question{TopicBecause, tools, nets, whyFewer})
		}
	}
	for _, n := range r.Names {
		need(n.Rough, n.Because, n.Tool)
	}
	for _, p := range r.Proofs {
		need(p.Rough, p.Because, p.Assertion.tools()...)
	}
	for _, l := range r.Losses {
		need(l.Rough, l.Because, l.Tools...)
	}
	for _, g := range r.Groups {
		need(g.Deadlock.Rough, g.Deadlock.Because)
		if g.Deadlock.Result == Unknown {
			r.Open = append(r.Open, Question{TopicDeadlock, nil, g.Nets, g.Deadlock.Why})
		}
	}
}

// These reasons mean that a higher limit can answer the question.
const (
	WhyStates = explore.WhyStates // a higher Options.States can answer the question
	WhyTime   = explore.WhyTime   // Options.Stop ended the search
)
