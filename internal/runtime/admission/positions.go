package admission

import (
	"maps"
	"sync/atomic"

	"github.com/petrigate/petrigate/gate"
)

// maxPositions bounds the texts that are kept: policies replace one another.
const maxPositions = 10_000

// positions makes the texts of positions, each once: every record names the rules that
// decided. It is safe for concurrent use.
type positions struct {
	text  func(gate.Position) string
	known atomic.Pointer[map[gate.Position]string] // replaced and never changed
}

// of returns the position as people read it.
func (p *positions) of(at gate.Position) string {
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
	p.known.CompareAndSwap(known, &more) // or another was faster, which knows as much
	return text
}
