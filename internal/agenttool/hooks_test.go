package agenttool

import "testing"

// TestHooksCoverCalls checks that each agent configures a hook that runs before a call and one that
// reports its end, and that no event is listed twice.
func TestHooksCoverCalls(t *testing.T) {
	for _, a := range All() {
		kinds, seen := map[EventKind]bool{}, map[string]bool{}
		for _, e := range a.Hooks.Configured() {
			kinds[e.Kind] = true
		}
		if !kinds[BeforeCall] || !kinds[AfterCall] || !kinds[TurnEnd] && !kinds[SessionEnd] {
			t.Errorf("%s: %v", a.Name, kinds)
		}
		for _, e := range a.Hooks.Events {
			if seen[e.Name] || KindOf(a.Name, e.Name) != e.Kind || e.Kind == Ignored {
				t.Errorf("%s: %+v", a.Name, e)
			}
			seen[e.Name] = true
		}
		if KindOf(a.Name, "unknown") != Ignored {
			t.Errorf("%s: an unknown event is not ignored", a.Name)
		}
	}
}
