// Package permission reads the permission lists of agents and converts them to rules. Lines that
// cannot be converted are returned with a reason.
package permission

import (
	"maps"
	"slices"

	"github.com/petrigate/petrigate/internal/clientcfg"
)

// Lists reads an agent's permission lists: the user's, those in the project directory and, for
// Claude Code, those of the machine. For a file that cannot be read, it returns a [Line] that
// describes the error. It returns nil if the agent is not supported.
func Lists(agent string, s clientcfg.System, project string) []Line {
	if read := readers[agent]; read != nil {
		return read(files{s, project})
	}
	return nil
}

// Agents returns the names of the supported agents, sorted.
func Agents() []string {
	return slices.Sorted(maps.Keys(readers))
}

// readers maps agent names to the functions that read the agents' lists.
var readers = map[string]func(files) []Line{
	"claude-code": claude, "codex": codex, "cursor": cursor, "gemini": gemini, "vscode": vscode,
}
