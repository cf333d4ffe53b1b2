package proxytest

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/petrigate/petrigate/internal/list"
)

// A Mailbox stores received messages until a test takes them.
type Mailbox struct {
	mu       sync.Mutex
	messages []Message
	changed  chan struct{}
}

// newMailbox returns an empty mailbox.
func newMailbox() *Mailbox { return &Mailbox{changed: make(chan struct{})} }

func (b *Mailbox) put(m Message) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.messages = append(b.messages, m)
	close(b.changed)
	b.changed = make(chan struct{})
}

// take removes the first message that satisfies ok and returns it. If necessary, it waits for the
// message. After [Patience], it gives up and returns false.
func (b *Mailbox) take(ok func(Message) bool) (Message, bool) {
	limit := time.NewTimer(Patience)
	defer limit.Stop()
	for {
		m, found, changed := b.find(ok)
		if found {
			return m, true
		}
		select {
		case <-changed:
		case <-limit.C:
			return Message{}, false
		}
	}
}

func (b *Mailbox) find(ok func(Message) bool) (Message, bool, chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, m := range b.messages {
		if ok(m) {
			b.messages = append(b.messages[:i:i], b.messages[i+1:]...)
			return m, true, nil
		}
	}
	return Message{}, false, b.changed
}

// Count returns the number of messages that satisfy ok.
func (b *Mailbox) Count(ok func(Message) bool) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(list.Filter(b.messages, ok))
}

// String lists the messages for failure reports.
func (b *Mailbox) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var s strings.Builder
	for _, m := range b.messages {
		fmt.Fprintf(&s, "\n%d %s", m.Status, m.Raw)
	}
	return s.String()
}
