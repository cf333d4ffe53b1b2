package proxy

import (
	"bytes"
	"sync/atomic"
	"time"

	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// The lists that can change, as their notifications and filters call them.
const (
	listChanged          = "notifications/tools/list_changed"
	promptsListChanged   = "notifications/prompts/list_changed"
	resourcesListChanged = "notifications/resources/list_changed"
)

// isNews reports whether a message says that something has changed, which is
// said as well by one such message as by several.
func isNews(message []byte) bool {
	const head = `{"jsonrpc":"2.0","method":"`
	return bytes.HasPrefix(message, []byte(head+listChanged+`"`)) || bytes.HasPrefix(message, []byte(head+promptsListChanged+`"`)) ||
		bytes.HasPrefix(message, []byte(head+resourcesListChanged+`"`)) || bytes.HasPrefix(message, []byte(head+resourceUpdated+`"`))
}

// filterOf is the member of the filter of subscriptions/listen that asks for a
// notification.
func filterOf(method string) string {
	switch method {
	case listChanged:
		return "toolsListChanged"
	case promptsListChanged:
		return "promptsListChanged"
	}
	return "resourcesListChanged"
}

// announceEvery is the time between two announcements of one list, and between
// two listings of tools: a flood of them becomes few.
const announceEvery = 50 * time.Millisecond

// announcements are the lists of whose changes the clients are about to be told.
type announcements struct{ prompts, resources atomic.Bool }

// announceSoon tells the clients of a change, once for any number of changes
// that come before.
func (p *Proxy) announceSoon(method string) {
	due := &p.changes.resources
	if method == promptsListChanged {
		due = &p.changes.prompts
	}
	if due.Swap(true) {
		return
	}
	p.background(func() {
		p.sleep(announceEvery)
		due.Store(false)
		p.announce(method)
	})
}

// announce tells every client that has seen a list that it has changed: a
// client with a handshake by itself, one of 2026-07-28 on the streams that it
// opened for that.
func (p *Proxy) announce(method string) {
	if method == listChanged {
		p.advisor.touchAll()
	}
	plain := wire.AppendNotification(nil, method, nil)
	for _, c := range p.sessions.clients() {
		seen, subscribers := c.interests.inList(method)
		if seen && c.out != nil && c.ready() {
			c.out.Send(plain)
		}
		for _, s := range subscribers {
			s.notes.add(wire.AppendNotification(nil, method, subscriptionParams(s.id, "")))
		}
	}
}

// subscriptionParams are the params of a message on a subscription: every one
// names the request that opened it.
func subscriptionParams(id, rest string) []byte {
	return []byte(`{"_meta":{"io.modelcontextprotocol/subscriptionId":` + id + `}` + rest + `}`)
}
