package proxy

import (
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

const listChanged = "notifications/tools/list_changed"

// announce tells every client that has a list that it has changed: a client
// with a handshake by itself, one of 2026-07-28 on the streams that it opened
// for that.
func (p *Proxy) announce() {
	plain := wire.AppendNotification(nil, listChanged, nil)
	for _, c := range p.clientList() {
		c.mu.Lock()
		told, out := c.initialized && c.listed, c.out
		type subscriber struct {
			id string
			s  stream
		}
		var subscribers []subscriber
		for id, s := range c.subscriptions {
			subscribers = append(subscribers, subscriber{id, s})
		}
		c.mu.Unlock()
		if told && out != nil {
			out.send(plain)
		}
		for _, s := range subscribers {
			s.s.send(wire.AppendNotification(nil, listChanged, subscriptionParams(s.id, "")))
		}
	}
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

// logLevels are the severities of MCP, which are those of syslog.
var logLevels = map[string]int{
	"debug": 0, "info": 1, "notice": 2, "warning": 3, "error": 4, "critical": 5, "alert": 6, "emergency": 7,
}

// broadcastLog passes a log message of an upstream to the clients with a
// handshake that want its level. It belongs to no request, and so there is
// no client of 2026-07-28 to give it to.
func (p *Proxy) broadcastLog(params []byte) {
	level := logLevels[member(params, "level")]
	for _, c := range p.clientList() {
		c.mu.Lock()
		wanted := c.initialized && level >= logLevels[c.logLevel]
		out := c.out
		c.mu.Unlock()
		if wanted && out != nil {
			out.send(wire.AppendNotification(nil, "notifications/message", params))
		}
	}
}

// setLevel serves logging/setLevel: for this client at once, and for the
// upstreams that log, which send everything that any client may want.
func (p *Proxy) setLevel(c *client, m wire.Message, s stream) {
	level := member(m.Params, "level")
	if _, known := logLevels[level]; !known {
		s.reply(wire.AppendError(nil, m.ID, codeInvalidParams, "unknown log level", nil))
		return
	}
	c.mu.Lock()
	c.logLevel = level
	c.mu.Unlock()
	for _, u := range p.upstreams {
		if _, logs := rawjson.Member(u.State().Capabilities, "logging"); logs {
			u.Send(upstream.Request{Method: "logging/setLevel", Params: m.Params})
		}
	}
	s.reply(wire.AppendResult(nil, m.ID, []byte(`{}`)))
}
