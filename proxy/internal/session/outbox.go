package session

import (
	"bytes"
	"slices"
	"sync"

	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// maxNotes is how many notifications wait for a client that does not read.
const maxOutbox = 256

// Notes are notifications on their way from the reader of an upstream, which
// others share, to the goroutine that writes to one client. A client that does
// not read must not hold the reader up: what there is no room for is dropped, but
// for requests, which are bounded elsewhere and whose answers are waited for.
type Outbox struct {
	Wake chan struct{} // gets a value when there are some

	mu      sync.Mutex
	waiting [][]byte
}

func NewOutbox() *Outbox { return &Outbox{Wake: make(chan struct{}, 1)} }

// Add never waits.
func (n *Outbox) Add(note []byte) {
	n.mu.Lock()
	if len(n.waiting) < maxOutbox || !wire.IsNotification(note) {
		n.waiting = append(n.waiting, note)
	}
	n.mu.Unlock()
	select {
	case n.Wake <- struct{}{}:
	default:
	}
}

// WriteTo writes what waits.
func (n *Outbox) WriteTo(s spec.Stream) {
	n.mu.Lock()
	waiting := n.waiting
	n.waiting = nil
	n.mu.Unlock()
	for note := range slices.Values(waiting) {
		s.Send(note)
	}
}

// A NoteStream is a stream by way of notes.
type OutboxStream struct{ *Outbox }

func (s OutboxStream) Send(parts ...[]byte) { s.Add(bytes.Join(parts, nil)) }

func (s OutboxStream) Reply(parts ...[]byte) { s.Send(parts...) }
