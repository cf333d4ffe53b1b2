package proxy

import (
	"context"
	"sync"
	"time"

	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// logLevels are the severities of MCP, which are those of syslog.
var logLevels = map[string]int{
	"debug": 0, "info": 1, "notice": 2, "warning": 3, "error": 4, "critical": 5, "alert": 6, "emergency": 7,
}

// setLevel serves logging/setLevel: for this client at once, and for the
// upstreams that log.
func (p *Proxy) setLevel(ctx context.Context, c *client, m wire.Message, s stream) {
	level := member(m.Params, "level")
	if _, known := logLevels[level]; !known {
		s.Reply(wire.AppendError(nil, m.ID, codeInvalidParams, "unknown log level", nil))
		return
	}
	c.setLogLevel(level)
	p.sessions.leveled.Store(true)
	p.relevel(ctx)
	s.Reply(wire.AppendResult(nil, m.ID, []byte(`{}`)))
}

// levelTimeout bounds the wait for upstreams that are told a level.
const levelTimeout = 5 * time.Second

// relevel tells the upstreams what their clients want, after that has changed,
// and waits until they know.
func (p *Proxy) relevel(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, levelTimeout)
	defer cancel()
	var all sync.WaitGroup
	for _, u := range p.connections() {
		all.Go(func() { p.setUpstreamLevel(ctx, u, false) })
	}
	all.Wait()
}

// A serverLevel is the level of log messages that a server was told.
type serverLevel struct {
	mu   sync.Mutex // held while it is told: the last one told is the last one wanted
	told string     // empty: none
}

// setUpstreamLevel sends logging/setLevel to a server of up to 2025-11-25 that
// logs, with the most verbose level that its clients want, unless it knows. A
// server that has just come up knows nothing. Each client gets what it asked for
// of that.
func (p *Proxy) setUpstreamLevel(ctx context.Context, u *upstreamState, anew bool) {
	l := p.levels.at(u)
	l.mu.Lock()
	defer l.mu.Unlock()
	if anew {
		l.told = ""
	}
	most := p.mostVerbose(u)
	if u.rev().LevelInMeta || !u.has("logging") || most == "" || most == l.told {
		return
	}
	l.told = most
	x := u.Send(upstream.Request{Method: "logging/setLevel", Params: []byte(`{"level":"` + most + `"}`)})
	select {
	case <-x.Done():
	case <-ctx.Done():
	}
}

// mostVerbose is the lowest level that a client of u wants; empty: none has ever
// asked for one, and the upstreams decide.
func (p *Proxy) mostVerbose(u *upstreamState) string {
	if !p.sessions.leveled.Load() {
		return ""
	}
	most := ""
	for _, c := range p.sessions.clients() {
		if !u.serves(c) {
			continue
		}
		if level := c.level(); level != "" && (most == "" || logLevels[level] < logLevels[most]) {
			most = level
		}
	}
	if most == "" {
		return unasked
	}
	return most
}

// logged passes on a log message of u that says of no request that it belongs
// to it: to the clients with a handshake that want its level, and to the client
// of 2026-07-28 whose calls u has, if only one session has any. Over stdio no
// message says more.
func (p *Proxy) logged(u *upstreamState, params []byte) {
	const method = "notifications/message"
	level := logLevels[member(params, "level")]
	for _, c := range p.sessions.clients() {
		wanted := c.ready() && level >= logLevels[c.level()]
		if wanted && c.out != nil && u.serves(c) {
			c.out.Send(wire.AppendNotification(nil, method, params))
		}
	}
	if t := u.logsFor(params); t != nil {
		t.tell(wire.AppendNotification(nil, method, params))
	}
}

// logsFor is the call of 2026-07-28 that a log message is for; nil: there is
// none, or it cannot be told.
func (u *upstreamState) logsFor(params []byte) (wants *toolCall) {
	var only *session
	for _, f := range flightsTo(u) {
		t := f.receiver()
		switch {
		case t == nil || only != nil && only != t.client.session:
			return nil
		case t.agent.rev.LevelInMeta && t.client.wantsLog(t.agent, t.meta, params):
			wants = t
		}
		only = t.client.session
	}
	return wants
}
