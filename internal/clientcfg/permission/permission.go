// Package permission reads the permission lists of agents and converts them to rules. Lines that
// cannot be converted are returned with a reason.
package permission

import (
	"slices"

	"github.com/petrigate/petrigate/internal/clientcfg"
)

// Lists reads the permission lists of an agent: those of the user, and those of the project
// directory. An unreadable file becomes a line that cannot be converted.
func Lists(agent string, s clientcfg.System, project string) []Line {
	read := readers[agent]
	if read == nil {
		return nil
	}
	return read(files{s, project})
}

// Agents returns the sorted names of the supported agents.
func Agents() []string {
	var names []string
	for name := range readers {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// readers maps the names of agents to the functions that read their lists.
var readers = map[string]func(files) []Line{
	"claude-code": claude, "codex": codex, "cursor": cursor, "gemini": gemini, "vscode": vscode,
}
