package proxy

import (
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// logLevels are the severities of MCP, which are those of syslog.
var logLevels = map[string]int{
	"debug": 0, "info": 1, "notice": 2, "warning": 3, "error": 4, "critical": 5, "alert": 6, "emergency": 7,
}

// setLevel serves logging/setLevel: for this client at once, and for the
// upstreams that log.
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
		p.setUpstreamLevel(u)
	}
	s.reply(wire.AppendResult(nil, m.ID, []byte(`{}`)))
}

// setUpstreamLevel asks a legacy upstream that logs for the most verbose of
// what the clients want. Each gets what it asked for of that.
func (p *Proxy) setUpstreamLevel(u *upstreamState) {
	state := u.State()
	if state.Era == upstream.Modern || !u.has("logging") {
		return
	}
	most := ""
	for _, c := range p.clientList() {
		c.mu.Lock()
		level := c.logLevel
		c.mu.Unlock()
		if level != "" && (most == "" || logLevels[level] < logLevels[most]) {
			most = level
		}
	}
	if most != "" {
		u.Send(upstream.Request{Method: "logging/setLevel", Params: []byte(`{"level":"` + most + `"}`)})
	}
}

// logged passes on a log message of u that says of no request that it belongs
// to it: to the clients with a handshake that want its level, and to the client
// of 2026-07-28 whose calls u has, if it is the only one. Over stdio no message
// says more.
func (p *Proxy) logged(u *upstreamState, params []byte) {
	const method = "notifications/message"
	level := logLevels[member(params, "level")]
	for _, c := range p.clientList() {
		c.mu.Lock()
		wanted := c.initialized && level >= logLevels[c.logLevel]
		out := c.out
		c.mu.Unlock()
		if wanted && out != nil {
			out.send(wire.AppendNotification(nil, method, params))
		}
	}
	if t := u.logsFor(params); t != nil {
		t.tell(wire.AppendNotification(nil, method, params))
	}
}

// logsFor is the call of 2026-07-28 that a log message is for; nil: there is
// none, or it cannot be told.
func (u *upstreamState) logsFor(params []byte) (wants *toolCall) {
	var only *client
	for _, f := range u.flights.all() {
		t := f.receiver()
		switch {
		case t == nil || only != nil && only != t.client:
			return nil
		case t.agent.modern && t.client.wantsLog(t.agent, t.meta, params):
			wants = t
		}
		only = t.client
	}
	return wants
}
