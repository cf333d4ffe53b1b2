package policydiff

import (
	"strings"
	"testing"
)

// TestDiffsOfChannels checks that a different channel is distinguished from different calls and
// from different approvers.
func TestDiffsOfChannels(t *testing.T) {
	const same = "requires approval for the same calls in both policies, but via a different channel"
	for _, c := range []struct {
		old, changed string
		same         bool
	}{
		{"require human-approval via web before a", "require human-approval via cli before a", true},
		{"require human-approval before a after c", "require human-approval via cli before a after c", true},
		{"require 2 human-approvals via web before a", "require human-approval via cli before a", false},
		{"require human-approval via web before a", "require human-approval via cli before a unless b", false},
	} {
		p := &pair{lines: [2][]string{strings.Split(c.old, "\n"), strings.Split(c.changed, "\n")}}
		if d := p.compare(t); strings.Contains(d.why, same) != c.same {
			t.Errorf("%s: %s\n%s", d.result(), d.why, p)
		}
	}
}
