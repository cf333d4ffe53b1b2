package policydiff

import (
	"strings"
	"testing"
)

// TestDiffsByNames checks calls with several names, with and without a configuration. A name of a
// tool that only one policy uses can exempt, allow, or count as evidence for rules that use another
// name.
func TestDiffsByNames(t *testing.T) {
	for _, c := range []struct {
		old, more string
		deny      bool
		want      string
	}{
		{"map bash.command runs ls as listing\nrequire human-approval before bash unless listing", `map "sh.bash".command runs rm as listing`, false, "looser"},
		{"map bash.command runs ls as listing\nblock bash unless listing", "map Bash.command runs rm as listing", false, "looser"},
		{"map bash.command runs ls as listing\nblock bash unless listing", `map "codex.shell".command runs rm as listing`, false, "looser"},
		{"map bash.command runs ls as listing\nlimit bash to 1 per session unless listing", "map sh_bash.command runs rm as listing", false, "looser"},
		{"map bash.command runs ls as listing\nblock *bash unless listing", "map sh_*.command runs rm as listing", false, "looser"},
		{"map bash.command runs ls as listing\nblock bash unless listing", "map sh*.command runs rm as listing", false, "looser"},
		{"map bash.command runs ls as listing\nallow listing\nblock bash unless listing", `map "sh.bash".command runs rm as listing`, true, "looser"},
		{"map bash.command runs make as built\nrequire built before push", `map "sh.push".command runs make as built`, false, "looser"},
		{"block push unless commit", `limit "git.push" to 3 per session`, false, "stricter"},
		{"map bash.command runs ls as listing\nblock bash unless listing", "map exec.command runs rm as listing", false, "looser"}, // as an agent may call a tool that runs scripts
		{"map bash.command runs ls as listing\nblock bash unless listing", "map exec.command rm as harmless", false, "equal"},
		{"map bash.command runs rm as danger\nblock danger", `map "sh.bash".command runs dd as danger`, false, "stricter"},
	} {
		old := strings.Split(c.old, "\n")
		p := &pair{lines: [2][]string{old, append(old[:len(old):len(old)], c.more)}, deny: c.deny}
		if d := p.compare(t); d == nil || d.result() != c.want {
			t.Errorf("want %s\n%s", c.want, p)
			if d != nil {
				t.Log(d.Text("old", "new"))
			}
		}
	}
}
