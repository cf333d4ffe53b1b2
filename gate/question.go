package gate

import (
	"slices"

	"github.com/petrigate/petrigate/gate/naming"
	"github.com/petrigate/petrigate/internal/list"
)

// question returns an [Ask] with the steps that a person must approve. These are the given steps,
// which concern uncertain names, and a step for each chosen transition that requires approval. g is
// an approval already given, or nil. If g covers all steps, question returns nil, nil. If g does
// not cover them, question returns a refusal, because the state has changed since the person was
// asked.
func (j *judgement) question(g *Grant, doubts []Step) (*Ask, *Refusal) {
	steps := append(doubts, j.steps()...)
	if g == nil {
		return &Ask{Number: j.state.Last + 1, Call: *j.call, Names: j.names(), Steps: steps}, nil
	}
	open := list.Filter(steps, func(s Step) bool { return !g.covers(s) })
	if len(open) == 0 {
		return nil, nil
	}
	return nil, j.refuse(KindStateChanged, blocksOf(open))
}

// covers reports whether g includes an approval of step s by enough people.
func (g *Grant) covers(s Step) bool {
	return slices.ContainsFunc(g.Steps, func(t Step) bool {
		return t.Net == s.Net && t.Transition == s.Transition && slices.Equal(t.Key, s.Key) && t.persons() >= s.persons()
	})
}

// steps returns a step for each chosen transition that requires approval.
func (j *judgement) steps() []Step {
	var steps []Step
	for i := range j.findings {
		f := &j.findings[i]
		for _, c := range f.choices {
			if t := &f.net.Transitions[c.transition]; t.Manual {
				s := f.step(t, c.name)
				i := slices.IndexFunc(f.labels, func(l naming.Label) bool { return l.Text == c.name })
				s.Doubt, s.Reason = j.doubted(f, &f.labels[i], s.Reason)
				s.Reason = f.net.explained(s.Reason)
				steps = append(steps, s)
			}
		}
	}
	return steps
}

// step returns the step that asks a person to approve transition t for the given name of the call.
func (f *finding) step(t *Transition, name string) Step {
	return Step{
		Net: f.net.Name, Transition: t.Name, Name: name, Via: t.Via, Approvals: t.Approvals, Rule: f.net.Rule,
		Reason: f.fillKey(f.net.approvalReason(name, t.Approvals)), Key: f.keyValues(),
	}
}
