package explore

import (
	"slices"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
)

// fresh returns the net for the rule "require test before push since edit".
func fresh(spoils bool) gate.Net {
	return gate.Net{
		Name: "fresh", Places: []string{"ready", "gate"}, Initial: map[string]int{"ready": 1},
		Transitions: []gate.Transition{
			{Name: "test", Inputs: []string{"ready"}, Outputs: []string{"gate"}, Tools: gate.Tools("test"), Observe: true, Deferred: true},
			{Name: "push", Inputs: []string{"gate"}, Outputs: []string{"ready"}, Tools: gate.Tools("push")},
			{Name: "spoil", Inputs: []string{"gate"}, Outputs: []string{"ready"}, Tools: gate.Tools("edit"), Observe: true, Spoils: spoils},
		},
	}
}

func modelOf(t *testing.T, nets ...gate.Net) *Model {
	t.Helper()
	p, err := gate.NewPolicy(nets, gate.PolicyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return New(p, callclass.Options{Known: true}, Options{})
}

// TestSpoilersInvalidateOverlappingTests plays runs with overlapping calls. A test counts only if
// no edit was in flight between its admission and its success.
func TestSpoilersInvalidateOverlappingTests(t *testing.T) {
	m := modelOf(t, fresh(true))
	for _, c := range []struct {
		run  string // a name begins a call; a name followed by +, - or ? ends the call with success, failure or an unknown outcome
		push bool
	}{
		{"test test+", true},
		{"test test+ edit", false},
		{"test edit test+", false},
		{"edit test test+", false},
		{"edit edit- test test+", true},
		{"edit edit+ test test+", true},
		{"edit edit? test test+", false},
		{"edit edit? edit+ test test+", true},
		{"edit edit edit+ test test+", false},
		{"edit edit edit+ edit+ test test+", true},
		{"test edit edit- test+", false},
		{"test test- test test+", true},
	} {
		r := m.newRun()
		m.playNames(t, r, c.run)
		blocking, _ := r.judge(m.classOf(t, "push"))
		if got := len(blocking) == 0; got != c.push {
			t.Errorf("%s: push %v", c.run, got)
		}
	}
}

func (m *Model) classOf(t *testing.T, tool string) *callclass.Class {
	t.Helper()
	for _, c := range m.Classes {
		if c.Tool == tool {
			return c
		}
	}
	t.Fatalf("no call of %s", tool)
	return nil
}

func (m *Model) playNames(t *testing.T, r *run, words string) {
	t.Helper()
	outcomes := map[byte]gate.Outcome{'+': gate.Success, '-': gate.Failure, '?': gate.Unknown}
	for _, w := range strings.Fields(words) {
		o, ends := outcomes[w[len(w)-1]]
		if !ends {
			r.begin(m.classOf(t, w))
			continue
		}
		at := slices.IndexFunc(r.calls, func(c *admittedCall) bool { return c.class.Tool == w[:len(w)-1] && !c.ended })
		r.end(r.calls[at], o)
	}
}

// TestSpaceAgreesOnFreshness checks that, in the space of all runs, no push follows an edit without
// a test, and a push can always become possible again.
func TestSpaceAgreesOnFreshness(t *testing.T) {
	m := modelOf(t, fresh(true))
	const dirty, clean = 0, 1
	got := m.NeverMet(&Query{
		Sole: -1,
		Tag: func(s *callclass.Class) uint8 {
			return map[string]uint8{"push": Wanted, "test": Succeeded, "edit": 4}[s.Tool]
		},
		Start: func(mon uint32, tag uint8, _ bool) (uint32, bool) {
			if tag&4 != 0 {
				return dirty, false
			}
			return mon, tag&Wanted != 0 && mon == dirty
		},
		Done: func(mon uint32, tag uint8) uint32 {
			if tag&Succeeded != 0 {
				return clean
			}
			return mon
		},
	}, nil)
	if got.Result != Proved {
		t.Errorf("a push of what is not fresh: %v %v", got.Result, got.Moves)
	}
	if d := m.Whole([]int{0}, ViewOptions{Limit: 1000}).FindDeadlock(); d.Result != Proved {
		t.Errorf("deadlock %v", d.Result)
	}
}
