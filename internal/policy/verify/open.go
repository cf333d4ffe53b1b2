package verify

import (
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/explore"
)

// Reasons for an open question that a larger bound can remove.
const (
	WhyStates = explore.WhyStates // raise Options.States
	WhyTime   = explore.WhyTime   // Options.Stop ended the search
)

// A Question is a question that a report leaves open.
type Question struct {
	Topic Topic
	Tools []gate.Tool // tools that it is about
	Nets  []Net       // nets that it is about
	Why   string      // the reason why it is open
}

// A Topic is the subject of a question.
type Topic uint8

// The topics of questions.
const (
	TopicLost      Topic = iota // whether a failure can make Tools permanently unavailable
	TopicRedundant              // for each of Nets, whether it ever changes a verdict
	TopicDeadlock               // whether Nets can forbid all further calls
	TopicBecause                // whether all of Nets are needed to forbid Tools, or all further calls if Tools is empty
)

// String returns the topic as "check --json" prints it.
func (t Topic) String() string { return [...]string{"lost", "redundant", "deadlock", "because"}[t] }

// open returns the open question with the topic and reason, adding it if necessary.
func (r *Report) open(t Topic, why string) *Question {
	at := slices.IndexFunc(r.Open, func(q Question) bool { return q.Topic == t && q.Why == why })
	if at < 0 {
		at = len(r.Open)
		r.Open = append(r.Open, Question{Topic: t, Why: why})
	}
	return &r.Open[at]
}

// whyFewer is the reason why it is unknown whether all nets are needed.
const whyFewer = "not all were left out to see whether the others do"

// askOpen adds the questions that parts of the report leave open.
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
