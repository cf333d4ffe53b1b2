package session

import (
	"bytes"
	"sync"

	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/wait"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// maxOutbox is the maximum number of notifications that are queued for a client that does not read.
const maxOutbox = 256

// An Outbox passes messages from the goroutine that reads from a server, which several clients
// share, to the goroutine that writes to one client. A client that does not read must not block the
// goroutine that reads, so a full Outbox drops notifications. It never drops requests, because
// their number is limited elsewhere and their senders wait for an answer.
type Outbox struct {
	Wake wait.Signal // sent when messages are queued

	mu      sync.Mutex
	waiting [][]byte
}

// NewOutbox returns an empty Outbox.
func NewOutbox() *Outbox { return &Outbox{Wake: wait.NewSignal()} }

// Add queues a message. If the Outbox is full and the message is a notification, Add drops it. Add
// never blocks.
func (n *Outbox) Add(note []byte) {
	n.mu.Lock()
	if len(n.waiting) < maxOutbox || !wire.IsNotification(note) {
		n.waiting = append(n.waiting, note)
	}
	n.mu.Unlock()
	n.Wake.Send()
}

// WriteTo sends the queued messages to a stream.
func (n *Outbox) WriteTo(s spec.Stream) {
	n.mu.Lock()
	waiting := n.waiting
	n.waiting = nil
	n.mu.Unlock()
	for _, note := range waiting {
		s.Send(note)
	}
}

// An OutboxStream is a stream that queues its messages in an [Outbox].
type OutboxStream struct{ *Outbox }

func (s OutboxStream) Send(parts ...[]byte) { s.Add(bytes.Join(parts, nil)) }

func (s OutboxStream) Reply(parts ...[]byte) { s.Send(parts...) }
