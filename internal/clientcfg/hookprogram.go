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
	for _, t := range h.Installed(d) {
		if p := program(t.command); filepath.IsAbs(p) && !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	return all
}

// program returns the unquoted path of the program that a hook's command runs. If the command
// starts a shell, program returns the path of the program that the shell runs.
func program(command string) string {
	path, _, _ := strings.Cut(command, " hook ")
	return strings.Trim(strings.TrimPrefix(path, "sh -c "), `'"\`)
}
