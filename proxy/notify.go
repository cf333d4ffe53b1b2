package proxy

import (
	"bytes"

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

// announce tells every client that has seen a list that it has changed: a
// client with a handshake by itself, one of 2026-07-28 on the streams that it
// opened for that.
func (p *Proxy) announce(method string) {
	if method == listChanged {
		p.advisor.touchAll()
	}
	plain := wire.AppendNotification(nil, method, nil)
	for _, c := range p.clientList() {
		told, out, subscribers := c.hearers(method)
		if told && out != nil {
			out.Send(plain)
		}
		for _, s := range subscribers {
			s.notes.add(wire.AppendNotification(nil, method, subscriptionParams(s.id, "")))
		}
	}
}

// hearers is who wants to know of a change to a list: the client itself, and
// those of its subscriptions.
func (c *client) hearers(method string) (told bool, out stream, subscribers []*subscription) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.subscriptions {
		if s.lists[filterOf(method)] {
			subscribers = append(subscribers, s)
		}
	}
	return c.initialized && c.listed[method], c.out, subscribers
}

// lists notes that the client has seen a list, and so is to be told of changes.
func (c *client) lists(method string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.listed == nil {
		c.listed = map[string]bool{}
	}
	c.listed[method] = true
}

func (p *Proxy) clientList() []*client {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := make([]*client, 0, len(p.clients))
	for _, c := range p.clients {
		list = append(list, c)
	}
	return list
}

// subscriptionParams are the params of a message on a subscription: every one
// names the request that opened it.
func subscriptionParams(id, rest string) []byte {
	return []byte(`{"_meta":{"io.modelcontextprotocol/subscriptionId":` + id + `}` + rest + `}`)
}
