package verify_test

import (
	"slices"
	"testing"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify"
)

// TestBoundsAreReportedAsOpen checks that, for any limit on states or time, the report contains
// each finding of the full report or lists it as an open question.
func TestBoundsAreReportedAsOpen(t *testing.T) {
	policies := map[string]string{
		"lost":      "require lint before test\nrequire test before deploy\nlimit test to 1 per deploy\n",
		"redundant": "limit a to 3 per session\nlimit a to 5 per session\nrequire a before b\nrequire a, c before b\n",
		"never":     "require a before b\nrequire b before c\nrequire c before a\nlimit a to 2 per b\n",
		"stuck":     "limit a to 1 per b\nrequire a before b\nlimit b to 1 per c\nrequire b before c\n",
		"keys":      "require backup before delete with same path\nlimit backup to 1 per delete for each path\nlimit delete to 2 per session\n",
		"hard":      hard() + "limit deploy to 1 per a0\n",
	}
	topics := make(map[verify.Topic]bool)
	for name, rules := range policies {
		p, o := build(t, map[string]string{"policy.rules": rules})
		whole := verify.Policy(p, o)
		said := func(bound string, of int, o verify.Options) {
			r := verify.Policy(p, o)
			for _, q := range r.Open {
				topics[q.Topic] = true
				if q.Why == "" {
					t.Errorf("%s, %d %s: no reason for the open question %v", name, of, bound, q)
				}
			}
			for _, missing := range unsaid(whole, r) {
				t.Errorf("%s, %d %s: %s", name, of, bound, missing)
			}
		}
		for _, states := range []int{1, 2, 3, 5, 8, 20, 60, 200} {
			few := o
			few.States = states
			said("states", states, few)
		}
		for asks := 0; asks < 200; asks = asks*5/4 + 1 {
			early, asked := o, 0
			early.Stop = func() bool { asked++; return asked > asks }
			said("questions of the time", asks, early)
		}
	}
	for _, topic := range []verify.Topic{verify.TopicLost, verify.TopicRedundant, verify.TopicDeadlock, verify.TopicBecause} {
		if !topics[topic] {
			t.Errorf("no bound has left open the topic %v", topic)
		}
	}
}

// unsaid returns the findings of the full report that the other report neither contains nor lists
// as open.
func unsaid(whole, r *verify.Report) (missing []string) {
	open := func(topic verify.Topic, about func(verify.Question) bool) bool {
		return slices.ContainsFunc(r.Open, func(q verify.Question) bool { return q.Topic == topic && about(q) })
	}
	of := func(t gate.Tool) func(verify.Question) bool {
		return func(q verify.Question) bool {
			return slices.ContainsFunc(q.Tools, func(u gate.Tool) bool { return u.Name == t.Name })
		}
	}
	unsure := func(t gate.Tool) bool {
		return slices.ContainsFunc(r.Names, func(n verify.Name) bool { return n.Tool.Name == t.Name && n.Callable == verify.Unsure && n.Why != "" })
	}
	for _, l := range whole.Losses {
		for _, t := range l.Tools {
			found := slices.ContainsFunc(r.Losses, func(l verify.Loss) bool { return of(t)(verify.Question{Tools: l.Tools}) })
			if !found && !unsure(t) && !open(verify.TopicLost, of(t)) {
				missing = append(missing, "the loss of "+t.Name)
			}
		}
	}
	for _, x := range whole.Redundant {
		found := slices.ContainsFunc(r.Redundant, func(y verify.Redundant) bool { return x.Net == y.Net || slices.Contains(y.Because, x.Net) })
		if !found && !open(verify.TopicRedundant, func(q verify.Question) bool { return slices.Contains(q.Nets, x.Net) }) {
			missing = append(missing, "redundant "+x.Net.Name)
		}
	}
	for i, n := range whole.Names {
		m := r.Names[i]
		switch {
		case m.Callable == verify.Unsure && m.Why == "":
			missing = append(missing, "why "+n.Tool.Name+" is not known")
		case m.Callable == verify.Impossible && len(m.Because) > len(n.Because) && !open(verify.TopicBecause, of(n.Tool)):
			missing = append(missing, "that fewer nets forbid "+n.Tool.Name)
		}
	}
	for i, g := range whole.Groups {
		if i >= len(r.Groups) {
			break // nets may be connected only by omitted calls
		}
		d := r.Groups[i].Deadlock
		about := func(q verify.Question) bool { return slices.Equal(q.Nets, g.Nets) }
		if d.Result == verify.Unknown && !open(verify.TopicDeadlock, about) && slices.Equal(r.Groups[i].Nets, g.Nets) {
			missing = append(missing, "the deadlock")
		}
		less := func(q verify.Question) bool { return len(q.Tools) == 0 && slices.Equal(q.Nets, d.Because) }
		if d.Result == verify.Refuted && g.Deadlock.Result == verify.Refuted && len(d.Because) > len(g.Deadlock.Because) && !open(verify.TopicBecause, less) {
			missing = append(missing, "that fewer nets cause the deadlock")
		}
	}
	return missing
}
