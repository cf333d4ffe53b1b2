package clientcfg

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/internal/clientcfg/splice"
)

// Programs returns the absolute paths of the programs that petrigate's hooks in the file run,
// without duplicates.
func (h Hooks) Programs(d *splice.Document) (all []string) {
	for _, e := range h.events {
		for _, v := range d.List("hooks", e.name) {
			inner := []any{v}
			if group, ok := v.(map[string]any); ok && group["hooks"] != nil {
				inner, _ = group["hooks"].([]any)
			}
			for _, v := range inner {
				if p := program(v); h.Ours(v) && filepath.IsAbs(p) && !slices.Contains(all, p) {
					all = append(all, p)
				}
			}
		}
	}
	return all
}

// program returns the program that a hook's command runs. The result contains neither quotes nor
// the shell around the command.
func program(hook any) string {
	fields, _ := hook.(map[string]any)
	command, _ := fields["command"].(string)
	path, _, _ := strings.Cut(command, " hook ")
	return strings.Trim(strings.TrimPrefix(path, "sh -c "), `'"\`)
}
