package verify

import (
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/explore"
)

// A Report holds the findings about a policy. It assumes that all nets are active and enforced, and
// it covers a single session.
type Report struct {
	Names        []Name
	Proofs       []Proof // results for Options.Prove, in the same order
	Losses       []Loss
	Open         []Question // open questions, besides the Unknown and Unsure results in this report
	Groups       []Group
	Redundant    []Redundant
	Overlaps     []Overlap
	MoreOverlaps bool     // whether there may be more overlaps
	Gaps         []string // reasons why some calls were not considered; nothing is proved about those calls
	States       int      // total number of states in the groups that were explored completely
	Visited      int      // number of states visited in all searches
}

// A Name holds the findings about a name that a net lists.
type Name struct {
	Tool     gate.Tool
	Callable Callable
	Shortest Trace  // if Possible, a shortest run of successful calls whose last call has this name
	Failing  Trace  // if AfterFailure, a run with a failure or overlapping calls whose last call has this name
	Because  []Net  // if Impossible, nets that together forbid all calls with this name; all are necessary unless Rough is set
	Rough    bool   // whether some nets in Because might be unnecessary; set if not all subsets were tried
	Default  bool   // if Impossible, whether the policy's default denies all calls with this name
	Why      string // if Unsure, why the result is not known
	Supposed string // if Unsure, the tool whose existence would decide the result, if any
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
	States   int  // number of reachable states over all outcomes and interleavings; 0 if not all were visited
	Complete bool // whether all states were visited
	Deadlock Deadlock
}

// A Deadlock describes whether a group can reach a state that permanently forbids every call gated
// by the group, even if all calls in flight and all later calls succeed.
type Deadlock struct {
	Result  Result // if Proved, no such state is reachable
	Trace   Trace  // if Refuted, a run that leads to such a state
	Because []Net  // if Refuted, nets that together forbid all calls from that state on; all are necessary unless Rough is set
	Rough   bool   // whether some nets in Because might be unnecessary; set if not all subsets were tried
	Why     string // if Unknown, why the result is not known
}

// Redundant describes a net that changes nothing: without it, the same calls would be admitted and
// the same approvals requested.
type Redundant struct {
	Net     Net
	Because []Net // other nets that forbid the same calls and so make this net unnecessary
}

// A Loss describes tools that become permanently unavailable after a run with failures, but not
// after any run without failures.
type Loss struct {
	Tools   []gate.Tool
	Trace   Trace // a shortest run that makes Tools permanently unavailable
	Because []Net // nets that together forbid calls to Tools after Trace; all are necessary unless Rough is set
	Rough   bool  // whether some nets in Because might be unnecessary; set if not all subsets were tried
}

// A Question describes what the report leaves undecided.
type Question struct {
	Topic Topic
	Tools []gate.Tool // tools that the question is about
	Nets  []Net       // nets that the question is about
	Why   string      // why the question is open
}

// A Topic is the subject of a question.
type Topic uint8

// Topics of questions.
const (
	TopicLost      Topic = iota // whether a failure can make Tools permanently unavailable
	TopicRedundant              // whether each net in Nets ever changes a verdict
	TopicDeadlock               // whether Nets can forbid all further calls
	TopicBecause                // whether all of Nets are needed to forbid Tools, or to forbid all further calls if Tools is empty
)

// String returns the topic as printed by "check --json".
func (t Topic) String() string { return [...]string{"lost", "redundant", "deadlock", "because"}[t] }

// openQuestion returns the question in r.Open with the given topic and reason. If no such question
// exists, it adds one.
func (r *Report) openQuestion(t Topic, why string) *Question {
	at := slices.IndexFunc(r.Open, func(q Question) bool { return q.Topic == t && q.Why == why })
	if at < 0 {
		at = len(r.Open)
		r.Open = append(r.Open, Question{Topic: t, Why: why})
	}
	return &r.Open[at]
}

// addLoss records the loss l of tool t. Losses that differ only in their tools are merged.
func (r *Report) addLoss(t gate.Tool, l Loss) {
	at := slices.IndexFunc(r.Losses, func(o Loss) bool { return slices.Equal(o.Because, l.Because) && slices.Equal(o.Trace, l.Trace) })
	if at < 0 {
		at = len(r.Losses)
		r.Losses = append(r.Losses, l)
	}
	r.Losses[at].Tools = append(r.Losses[at].Tools, t)
}

// whyFewer is the reason given for an open question of topic [TopicBecause].
const whyFewer = "not every combination of rules was tried"

// askOpen adds the questions left open by other fields of the report.
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

// Reasons for a result that a higher limit might change.
const (
	WhyStates = explore.WhyStates // Options.States was too low
	WhyTime   = explore.WhyTime   // Options.Stop ended the search
)
