package admission

import (
	"maps"
	"sync/atomic"

	"github.com/petrigate/petrigate/gate"
)

// maxPositions bounds the cache, because policies are replaced.
const maxPositions = 10_000

// positions caches the text form of positions, which every record contains. It is safe for
// concurrent use.
type positions struct {
	text  func(gate.Position) string
	known atomic.Pointer[map[gate.Position]string] // replaced, never modified
}

// textOf returns a position's text form.
func (p *positions) textOf(at gate.Position) string {
	known := p.known.Load()
	if known != nil {
		if text, ok := (*known)[at]; ok {
			return text
		}
	}
	text := p.text(at)
	more := map[gate.Position]string{}
	if known != nil && len(*known) < maxPositions {
		more = maps.Clone(*known)
	}
	more[at] = text
	p.known.CompareAndSwap(known, &more) // if another goroutine was faster, its map serves as well
	return text
}
