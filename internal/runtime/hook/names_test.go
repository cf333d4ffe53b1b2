package hook

import (
	"slices"
	"testing"

	"github.com/petrigate/petrigate/internal/agenttool"
)

// TestKnownNames: package check knows every name of a call of an agent's own tools.
func TestKnownNames(t *testing.T) {
	known := agenttool.Names()
	if got := agenttool.Agents(); len(got) != len(Names()) {
		t.Errorf("%q are known", got)
	}
	for _, a := range agents {
		listed := agenttool.Of(a.Name)
		if !slices.ContainsFunc(agenttool.Shells(a.Name), func(s string) bool { return slices.Contains(listed, s) }) {
			t.Errorf("%s has none of its tools that run scripts: %q", a.Name, agenttool.Shells(a.Name))
		}
		for _, tool := range listed {
			for _, field := range agenttool.Asides(a.Name, tool) {
				if slices.Contains([]string{"command", "cmd", "run_in_background", "is_background", "isBackground", "prompt", "workdir", "directory"}, field) {
					t.Errorf("%s: %s is part of what %s does", a.Name, field, tool)
				}
			}
			c := (&Event{agent: a, Tool: tool}).call(func(string) bool { return false })
			for _, also := range c.Also {
				if !slices.Contains(known, also.Text) {
					t.Errorf("%s: %s is also %s, which check does not know", a.Name, tool, also.Text)
				}
			}
		}
	}
}
