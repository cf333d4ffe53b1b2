package examples

import (
	"encoding/json"
	"regexp"
	"slices"
	"testing"

	"github.com/petrigate/petrigate/internal/runtime/hook"
)

// TestHooksPage checks that the rules on the page compile, and that each text to be pasted is JSON
// with events that the section's agent knows and that the agent's hook handles. The page must cover
// all agents.
func TestHooksPage(t *testing.T) {
	of := regexp.MustCompile(`hook[ /]([a-z-]+)`)
	var seen []string
	for _, block := range fence.FindAllStringSubmatch(read(t, "../docs/hooks.md"), -1) {
		if block[1] == "rules" {
			checkRules(t, block[2])
			continue
		}
		var file struct {
			Hooks map[string]json.RawMessage
		}
		if err := json.Unmarshal([]byte(block[2]), &file); err != nil || len(file.Hooks) == 0 {
			t.Fatalf("%v: %s", err, block[2])
		}
		for event, handlers := range file.Hooks {
			name := of.FindSubmatch(handlers)
			if name == nil || hook.Find(string(name[1])) == nil {
				t.Fatalf("no hook of an agent: %s", handlers)
			}
			seen = append(seen, string(name[1]))
			e, _ := hook.Find(string(name[1])).Read([]byte(`{"session_id":"a","tool_name":"T","tool_use_id":"t","hook_event_name":"` + event + `"}`))
			if e.Ignored() {
				t.Errorf("%s has no event %s", name[1], event)
			}
		}
	}
	for _, name := range hook.Names() {
		if !slices.Contains(seen, name) {
			t.Errorf("nothing is to be pasted for %s", name)
		}
	}
}
