package relay

import (
	"context"
	"sync"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wait"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// SetLevel serves logging/setLevel. It sets the client's level and tells the servers that support
// logging.
func (p *Relay) SetLevel(ctx context.Context, q session.Request) ([]byte, error) {
	level := rawjson.StringAt(q.Message.Params, "level")
	if _, known := spec.LogLevels[level]; !known {
		return nil, wire.NewFault(wire.CodeInvalidParams, "unknown log level")
	}
	q.Client.SetLogLevel(level)
	p.Sessions.LogLevelSet.Store(true)
	p.Relevel(ctx)
	return []byte(`{}`), nil
}

// Relevel sends the servers the log levels requested by clients, and waits for the responses.
func (p *Relay) Relevel(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, spec.LevelTimeout)
	defer cancel()
	var all sync.WaitGroup
	for _, u := range p.Pool.Connections() {
		all.Go(func() { p.SetUpstreamLevel(ctx, u, false) })
	}
	all.Wait()
}

// A serverLevel is the log level last sent to a server.
type serverLevel struct {
	mu   sync.Mutex // held while sending a level, because levels must be sent in the order of the clients' requests
	told string     // level last sent; empty if none was sent
}

// SetUpstreamLevel sends logging/setLevel with the most verbose level of all clients of u, unless
// the server already has that level. It does so only for a server that supports logging and uses a
// revision up to 2025-11-25. The proxy itself filters messages by each client's level. If restarted
// is true, the server has just come up and has no level yet.
func (p *Relay) SetUpstreamLevel(ctx context.Context, u *pool.Server, restarted bool) {
	l := p.Levels.At(u)
	l.mu.Lock()
	defer l.mu.Unlock()
	if restarted {
		l.told = ""
	}
	most := p.mostVerboseLevel(u)
	if u.Rev().LevelInMeta || !u.Has("logging") || most == "" || most == l.told {
		return
	}
	l.told = most
	x := u.Send(upstream.Request{Method: "logging/setLevel", Params: []byte(`{"level":"` + most + `"}`)})
	wait.For(ctx, x.Done())
}

// mostVerboseLevel returns the most verbose of the log levels of u's clients. If none of them has
// set a level, it returns the default level. If no client of any server has ever set a level, it
// returns "", and the server chooses the level.
func (p *Relay) mostVerboseLevel(u *pool.Server) string {
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
