package explore

import (
	"fmt"
	"slices"
	"testing"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
)

// TestAccelerationMatchesSingleSteps checks that accelerated calls lead to the same state as single
// calls, even if enabled transitions change on the way.
func TestAccelerationMatchesSingleSteps(t *testing.T) {
	many := func(place string, n int) []string { return slices.Repeat([]string{place}, n) }
	nets := []gate.Net{
		{ // another transition becomes disabled below ten tokens
			Name: "falls", Places: []string{"p", "q"}, Initial: map[string]int{"p": 60},
			Transitions: []gate.Transition{
				{Name: "much", Inputs: many("p", 10), Outputs: many("p", 9), Tools: gate.Tools("x")},
				{Name: "little", Inputs: []string{"p"}, Outputs: []string{"q"}, Tools: gate.Tools("x")},
			},
		},
		{ // a structural transition fires at twenty tokens
			Name: "rises", Places: []string{"p", "q", "r"}, Initial: map[string]int{"p": 200},
			Transitions: []gate.Transition{
				{Name: "up", Inputs: []string{"p"}, Outputs: []string{"q"}, Tools: gate.Tools("x")},
				{Name: "over", Inputs: many("q", 20), Outputs: []string{"r"}},
			},
		},
		{ // the call ends its watch, but not always
			Name: "watched", Places: []string{"p", "q"}, Initial: map[string]int{"p": 90},
			Transitions: []gate.Transition{
				{Name: "seen", Inputs: []string{"p", "p"}, Outputs: []string{"q"}, Tools: gate.Tools("x"), Observe: true, Deferred: true},
			},
		},
		{ // a call takes tokens in flight and returns fewer
			Name: "flies", Places: []string{"p", "q"}, Initial: map[string]int{"p": 150},
			Transitions: []gate.Transition{
				{Name: "go", Inputs: many("p", 3), Outputs: []string{"p", "q"}, Tools: gate.Tools("x"), Deferred: true},
			},
		},
	}
	for _, n := range nets {
		p, err := gate.NewPolicy([]gate.Net{n}, gate.PolicyOptions{})
		if err != nil {
			t.Fatal(err)
		}
		m := New(p, callclass.Options{}, Options{})
		x := m.Classes[slices.IndexFunc(m.Classes, func(s *callclass.Class) bool { return s.Tool == "x" })]
		for times := 1; times <= 70; times++ {
			at, slow := m.newRun(), m.newRun()
			passes := func(blocking []int) bool { return len(blocking) == 0 }
			made := at.apply(Move{Class: x, Times: times}, passes)
			all := true
			for i := range times {
				if all = all && slow.apply(Move{Call: i, Class: x}, passes); all {
					slow.end(slow.calls[i], gate.Success)
				}
			}
			if got, want := fmt.Sprint(made, marking(at)), fmt.Sprint(all, marking(slow)); made != all || made && got != want {
				t.Errorf("%s: %d calls in one step: %s, one by one: %s", n.Name, times, got, want)
			}
		}
		if steps := len(m.Nets[0].locals.List); steps < 10 {
			t.Errorf("%s: %d states: nothing was made one by one", n.Name, steps)
		}
	}
}

func marking(r *run) []int { return r.nets[0].locals.List[r.local[0]].marking }

// TestAccelerationIsBounded checks that a run that cannot be accelerated is played up to a limit
// and counts as unknown beyond it.
func TestAccelerationIsBounded(t *testing.T) {
	flips := gate.Net{Name: "flips", Places: []string{"p", "q"}, Initial: map[string]int{"p": 1}, Transitions: []gate.Transition{
		{Name: "there", Inputs: []string{"p"}, Outputs: []string{"q"}, Tools: gate.Tools("x")},
		{Name: "back", Inputs: []string{"q"}, Outputs: []string{"p"}, Tools: gate.Tools("x")},
	}}
	p, err := gate.NewPolicy([]gate.Net{flips}, gate.PolicyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	m := New(p, callclass.Options{}, Options{})
	x := m.Classes[slices.IndexFunc(m.Classes, func(s *callclass.Class) bool { return s.Tool == "x" })]
	if r, stopped := m.Replay([]Move{{Class: x, Times: maxReplay + 1}}); !r.long || stopped != 0 {
		t.Errorf("long %v, stopped by %d", r.long, stopped)
	}
	if r, stopped := m.Replay([]Move{{Class: x, Times: maxReplay}}); r.long || stopped >= 0 {
		t.Errorf("long %v, stopped by %d", r.long, stopped)
	}
}
