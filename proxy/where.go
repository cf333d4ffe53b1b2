package proxy

import (
	"path/filepath"

	"github.com/petrigate/petrigate/gate"
)

// where is a position as clients and operators read it: from the folder of
// the configuration. Of a file elsewhere it is the name alone, since the rest
// of the path is nobody's business.
func (p *Proxy) where(at gate.Position) string {
	if !filepath.IsAbs(at.File) {
		return at.String()
	}
	rel, err := filepath.Rel(p.options.Root, at.File)
	if err != nil || !filepath.IsLocal(rel) {
		rel = filepath.Base(at.File)
	}
	at.File = rel
	return at.String()
}
