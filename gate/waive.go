package gate

import (
	"slices"

	"github.com/petrigate/petrigate/gate/naming"
	"github.com/petrigate/petrigate/gate/toolnet"
)

// waive handles a call that nets block only because some of its names are uncertain. It decides as
// if the call did not have these names, and returns questions about them for a person to answer. It
// does nothing if [PolicyOptions.AskDoubts] is not set, and stops if a net blocks the call for
// another reason.
func (j *judgement) waive(s *State) (doubts []Step) {
	if !j.policy.asks {
		return nil
	}
	for j.blocked {
		more, ok := j.doubts()
		if !ok {
			break
		}
		doubts = append(doubts, more...)
		isDoubted := func(l naming.Label) bool {
			return slices.ContainsFunc(more, func(d Step) bool { return d.Name == l.Text })
		}
		for _, l := range j.labels {
			if isDoubted(l) {
				j.waived = append(j.waived, l)
			}
		}
		j.labels = slices.DeleteFunc(slices.Clone(j.labels), isDoubted)
		rest := j.labels
		j.labels = slices.DeleteFunc(slices.Clone(rest), func(l naming.Label) bool {
			return l.Glob > 0 && !slices.ContainsFunc(rest, func(k naming.Label) bool { return k.Glob == 0 && toolnet.MatchGlob(l.Text, k.Text) })
		})
		j.set = j.policy.index.Find(j.labels, j.setRoom[:])
		j.plan()
		j.classify(s)
		j.yield()
	}
	return doubts
}

// doubts returns a question for each net that blocks the call because of an uncertain name. ok is
// false if a net blocks the call for any other reason, or if the net does not use the policy's
// labels (see [Net.Labels]).
func (j *judgement) doubts() (steps []Step, ok bool) {
	for i := range j.findings {
		f := &j.findings[i]
		if f.kind != Blocked {
			continue
		}
		var b Block
		if j.block(&b, f); b.Doubt == nil || f.net.Labels == nil {
			return nil, false
		}
		steps = append(steps, Step{Net: f.net.Name, Name: f.matched(&f.labels[f.label]).Text, Rule: f.net.Rule, Reason: b.Reason, Key: b.Key, Doubt: b.Doubt})
	}
	return steps, true
}
