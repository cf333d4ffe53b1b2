package check

import (
	"slices"
	"testing"

	"github.com/petrigate/petrigate/config"
)

// TestUnendedToolNames checks that bash counts as a script without a reported end if all hooks are
// known and belong to agents that never report it. A name qualified with such an agent always does.
func TestUnendedToolNames(t *testing.T) {
	listed, shell := []ListedTool{{Name: "read"}}, []ListedTool{{Name: "bash"}}
	remote := &config.Config{Listen: config.Listen{Hooks: true}}
	for name, c := range map[string]struct {
		set      ToolSet
		hooks    []string
		complete bool
		bare     bool
	}{
		"codex":                        {KnownSet(listed, nil), []string{"codex"}, true, true},
		"codex and VS Code":            {KnownSet(listed, nil), []string{"codex", "vscode"}, true, true},
		"one that tells":               {KnownSet(listed, nil), []string{"codex", "gemini-cli"}, true, false},
		"none":                         {KnownSet(listed, nil), nil, true, false},
		"a file that cannot be read":   {KnownSet(listed, nil), []string{"codex"}, false, false},
		"hooks over the network":       {KnownSet(listed, remote), []string{"codex"}, true, false},
		"a server with the tool":       {KnownSet(shell, nil), []string{"codex"}, true, false},
		"tools that are not known yet": {ToolSet{}, []string{"codex"}, true, false},
	} {
		c.set.AddHooks(c.hooks, c.complete)
		names := c.set.Unended()
		if slices.Contains(names, "bash") != c.bare || !slices.Contains(names, "codex.shell") || !slices.Contains(names, "vscode.Bash") {
			t.Errorf("%s: %q", name, names)
		}
		if slices.Contains(names, "run_shell_command") || slices.Contains(names, "claude-code.Bash") || slices.Contains(names, "codex.apply_patch") {
			t.Errorf("%s: %q", name, names)
		}
	}
}
