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

// SetLevel serves logging/setLevel: it sets the level of this client, and tells the
// servers that log.
func (p *Relay) SetLevel(ctx context.Context, q session.Request) ([]byte, error) {
	level := spec.Member(q.Message.Params, "level")
	if _, known := spec.LogLevels[level]; !known {
		return nil, wire.NewFault(spec.CodeInvalidParams, "unknown log level")
	}
	q.Client.SetLogLevel(level)
	p.Sessions.LogLevelSet.Store(true)
	p.Relevel(ctx)
	return []byte(`{}`), nil
}

// Relevel tells the servers which level their clients have asked for, and waits until they
// know.
func (p *Relay) Relevel(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, spec.LevelTimeout)
	defer cancel()
	var all sync.WaitGroup
	for _, u := range p.Pool.Connections() {
		all.Go(func() { p.SetUpstreamLevel(ctx, u, false) })
	}
	all.Wait()
}

// A serverLevel is the log level that a server was told.
type serverLevel struct {
	mu   sync.Mutex // held while it is told: the last one told is the last one wanted
	told string     // empty: none
}

// SetUpstreamLevel sends logging/setLevel to a server of up to 2025-11-25 with the most
// verbose level of its clients, unless the server knows it; each client gets its own level
// of that. anew says that the server has just come up, and knows nothing.
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

// mostVerbose returns the lowest level that a client of u has asked for; empty: none ever
// has, and the servers decide.
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
