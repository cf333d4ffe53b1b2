package check

import (
	"fmt"
	"slices"
	"time"

	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy/verify"
	"github.com/petrigate/petrigate/internal/text"
)

// An openQuestion is a question about the policy that the verification left open. Unknown claims
// and tools are not included; the report lists them with their own reasons.
type openQuestion struct {
	Question string   `json:"question"` // the topic: "calls", "lost", "redundant", "deadlock", "because" or "transitions"
	Tools    []string `json:"tools,omitempty"`
	Nets     []string `json:"nets,omitempty"`
	Why      string   `json:"why"`
	Hint     string   `json:"hint,omitempty"` // how to get an answer to the question

	text  string // the question, written out in full
	group string // if Question is "deadlock", a phrase that names the nets
}

// raiseHint returns a hint on how to raise the limit that ended the search, or "" if no limit ended
// it.
func (e Effort) raiseHint(why string) string {
	switch why {
	case verify.WhyStates:
		states := e.States
		if states < 1 {
			states = verify.DefaultStates
		}
		return fmt.Sprintf("petrigate check --max-states %d explores more", 10*states)
	case verify.WhyTime:
		return fmt.Sprintf("petrigate check --timeout %s searches longer", text.Duration(max(time.Minute, 10*e.Time)))
	}
	return ""
}

// reason adds a hint to the reason for an unknown result if raising a limit might help.
func (e Effort) reason(why string) string {
	if hint := e.raiseHint(why); hint != "" {
		return why + "; " + hint
	}
	return why
}

// open returns the questions that the verification left open.
func (v *Analysis) open() []openQuestion {
	out := list.Map(v.report.Gaps, func(gap string) openQuestion {
		return openQuestion{Question: "calls", Why: gap, Hint: v.effort.raiseHint(gap), text: "not all kinds of calls were explored"}
	})
	for _, q := range v.report.Open {
		o := openQuestion{
			Question: q.Topic.String(), Tools: list.Map(q.Tools, ruleName), Nets: netNames(q.Nets), Why: q.Why, Hint: v.effort.raiseHint(q.Why),
		}
		o.text, o.group = openText(q)
		out = append(out, o)
	}
	return append(out, v.unexplored()...)
}

// openText describes an open question in a sentence. For a question about deadlocks, it returns
// only a phrase that names the nets, because one sentence can report many such questions.
func openText(q verify.Question) (said, group string) {
	nets, tools := many(list.Map(q.Nets, citedNet)), many(list.Map(q.Tools, toolText))
	switch {
	case q.Topic == verify.TopicLost:
		said = "a failure can take away " + tools + " for good"
	case q.Topic == verify.TopicDeadlock && len(q.Nets) > 1:
		return "", citedNet(q.Nets[0]) + " and what shares calls with it"
	case q.Topic == verify.TopicDeadlock:
		return "", nets
	case q.Topic == verify.TopicRedundant && len(q.Nets) > 1:
		said = "each of these rules changes a verdict: " + nets
	case q.Topic == verify.TopicRedundant:
		said = nets + " ever changes a verdict"
	case len(q.Tools) == 0:
		said = "all of " + nets + " are needed to forbid all further calls"
	default:
		said = "all of " + nets + " are needed to forbid " + tools
	}
	return "not known whether " + said, ""
}

// maxNamed is the maximum number of nets or tools named in a sentence.
const maxNamed = 8

func many(names []string) string {
	if len(names) > maxNamed {
		return text.First(maxNamed, names)
	}
	return text.And(names)
}

// unexplored returns a question for each hand-written net that has unexplored states, and thus
// might have transitions that never fire.
func (v *Analysis) unexplored() []openQuestion {
	return list.Map(v.partly, func(name string) openQuestion {
		return openQuestion{
			Question: "transitions", Nets: []string{name}, Why: verify.WhyStates, Hint: "petrigate analyze explores more",
			text: "not known whether each transition of " + cited(name, v.nets[name].Rule) + " can fire",
		}
	})
}

// complete reports whether every question was answered.
func (v *Analysis) complete(open []openQuestion) bool {
	return len(open) == 0 && !v.report.MoreOverlaps &&
		!slices.ContainsFunc(v.names, func(n verify.Name) bool { return n.Callable == verify.Unsure }) &&
		!slices.ContainsFunc(v.proofs, func(p claimProof) bool { return p.Result == verify.Unknown })
}
