package proxy

import (
	"bytes"
	"slices"
	"sync"

	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// maxNotes is how many notifications wait for a client that does not read.
const maxNotes = 256

// notes are notifications on their way from the reader of an upstream, which
// others share, to the goroutine that writes to one client. A client that does
// not read must not hold the reader up: what there is no room for is dropped, but
// for requests, which are bounded elsewhere and whose answers are waited for.
type notes struct {
	wake chan struct{} // gets a value when there are some

	mu      sync.Mutex
	waiting [][]byte
}

func newNotes() *notes { return &notes{wake: make(chan struct{}, 1)} }

// add never waits.
func (n *notes) add(note []byte) {
	n.mu.Lock()
	if len(n.waiting) < maxNotes || !wire.IsNotification(note) {
		n.waiting = append(n.waiting, note)
	}
	n.mu.Unlock()
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

// writeTo writes what waits.
func (n *notes) writeTo(s stream) {
	n.mu.Lock()
	waiting := n.waiting
	n.waiting = nil
	n.mu.Unlock()
	for note := range slices.Values(waiting) {
		s.Send(note)
	}
}

// A noteStream is a stream by way of notes.
type noteStream struct{ *notes }

func (s noteStream) Send(parts ...[]byte) { s.add(bytes.Join(parts, nil)) }

func (s noteStream) Reply(parts ...[]byte) { s.Send(parts...) }
