package proxy

import (
	"path/filepath"

	"github.com/petrigate/petrigate/gate"
)

// where is a position as clients and operators read it: from the folder of
// the configuration, since the rest of the path is nobody's business.
func (p *Proxy) where(at gate.Position) string {
	if root := p.options.Root; root != "" {
		if rel, err := filepath.Rel(root, at.File); err == nil && filepath.IsLocal(rel) {
			at.File = rel
		}
	}
	return at.String()
}
