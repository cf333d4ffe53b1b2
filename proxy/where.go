package proxy

import (
	"path/filepath"

	"github.com/petrigate/petrigate/gate"
)

// whereFrom returns a function that writes a position as clients and operators read
// it: from the folder root. Of a file elsewhere it writes the name alone, since the
// rest of the path is nobody's business.
func whereFrom(root string) func(gate.Position) string {
	return func(at gate.Position) string { return where(root, at) }
}

func where(root string, at gate.Position) string {
	if !filepath.IsAbs(at.File) {
		return at.String()
	}
	rel, err := filepath.Rel(root, at.File)
	if err != nil || !filepath.IsLocal(rel) {
		rel = filepath.Base(at.File)
	}
	at.File = rel
	return at.String()
}
