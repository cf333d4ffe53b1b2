package relay

import (
	"context"
	"sync"

	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// SetLevel serves logging/setLevel: for this client at once, and for the
// upstreams that log.
func (p *Relay) SetLevel(ctx context.Context, c *session.Client, m wire.Message, s spec.Stream) {
	level := spec.Member(m.Params, "level")
	if _, known := spec.LogLevels[level]; !known {
		s.Reply(wire.AppendError(nil, m.ID, spec.CodeInvalidParams, "unknown log level", nil))
		return
	}
	c.SetLogLevel(level)
	p.Sessions.LogLevelSet.Store(true)
	p.Relevel(ctx)
	s.Reply(wire.AppendResult(nil, m.ID, []byte(`{}`)))
}

// Relevel tells the upstreams what their clients want, after that has changed,
// and waits until they know.
func (p *Relay) Relevel(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, spec.LevelTimeout)
	defer cancel()
	var all sync.WaitGroup
	for _, u := range p.Pool.Connections() {
		all.Go(func() { p.SetUpstreamLevel(ctx, u, false) })
	}
	all.Wait()
}

// A ServerLevel is the level of log messages that a server was told.
type ServerLevel struct {
	mu   sync.Mutex // held while it is told: the last one told is the last one wanted
	told string     // empty: none
}

// SetUpstreamLevel sends logging/setLevel to a server of up to 2025-11-25 that
// logs, with the most verbose level that its clients want, unless it knows. A
// server that has just come up knows nothing. Each client gets what it asked for
// of that.
func (p *Relay) SetUpstreamLevel(ctx context.Context, u *pool.Server, anew bool) {
	l := p.Levels.At(u)
	l.mu.Lock()
	defer l.mu.Unlock()
	if anew {
		l.told = ""
	}
	most := p.mostVerbose(u)
	if u.Rev().LevelInMeta || !u.Has("logging") || most == "" || most == l.told {
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
func (p *Relay) mostVerbose(u *pool.Server) string {
	if !p.Sessions.LogLevelSet.Load() {
		return ""
	}
	most := ""
	for _, c := range p.Sessions.Clients() {
		if !u.Serves(c) {
			continue
		}
		if level := c.LogLevel(); level != "" && (most == "" || spec.LogLevels[level] < spec.LogLevels[most]) {
			most = level
		}
	}
	if most == "" {
		return session.DefaultLogLevel
	}
	return most
}
