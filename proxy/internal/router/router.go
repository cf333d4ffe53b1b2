// Package router passes messages to the packages that handle them. client.go lists every method
// that a client can send, and server.go every notification and request that a server can send.
package router

import (
	"context"
	"errors"
	"time"

	"github.com/mark3labs/mcp-go/server"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/proxy/internal/advertise"
	"github.com/petrigate/petrigate/proxy/internal/events"
	"github.com/petrigate/petrigate/proxy/internal/lifetime"
	"github.com/petrigate/petrigate/proxy/internal/pipeline"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/relay"
	"github.com/petrigate/petrigate/proxy/internal/reverse"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/tasks"
)

// A Router passes each message from a client or a server to its handler. Its fields must be set
// before use.
type Router struct {
	Life       *lifetime.Lifetime
	Sessions   *session.Sessions
	Admission  *admission.Admission
	Pool       *pool.Pool
	Advertiser *advertise.Advertiser // answers tools/list for clients that have sent initialize; nil if all clients see the same tools
	Tasks      *tasks.Tasks
	Reverse    *reverse.Reverse
	Relay      *relay.Relay
	Pipeline   *pipeline.Pipeline
	Server     *server.MCPServer // answers initialize, server/discover and ping
}

// BeginSession opens the session's state. After an error, the session's calls are refused.
func (r *Router) BeginSession(s *session.Session) error {
	err := r.Admission.Sessions.Open(r.Life.Ctx, admission.SessionInfo{Key: s.Key(), Since: s.Since, Lasting: s.Lasting, About: s.About})
	if err != nil {
		r.Life.Log.Error("beginning a session", "session", s.ID, "error", err)
	}
	return err
}

// DropClient removes a client that has disconnected and cancels its requests. If the session was
// created for this connection, DropClient also ends the session and closes the session's dedicated
// connections to servers. If Session.Left is set, the session does not end, because other replicas
// may still serve it.
func (r *Router) DropClient(c *session.Client) {
	r.Sessions.Remove(c)
	r.Advertiser.Forget(c)
	watched, leveled := c.Subscriptions.WatchesAny(), c.Ready.Load() && r.Sessions.LogLevelSet.Load()
	c.Requests.CancelAll(spec.ErrGone)
	c.ClientRequests.End()
	if c.Session.By == "connection" {
		r.Tasks.Forget(c.Session)
		r.endDedicated(c.Session)
		if (!c.Session.Bare || c.Session.About != nil) && !c.Session.Left.Load() {
			r.endSession(c.Session)
		}
	}
	if watched {
		r.Life.Background(r.Relay.Rewatch)
	}
	if leveled {
		r.Life.Background(func() { r.Relay.Relevel(r.Life.Ctx) })
	}
}

// EndClient is called when the HTTP session of a client has ended. It drops the client and closes
// the client's streams.
func (r *Router) EndClient(c *session.Client) {
	r.DropClient(c)
	c.Streams.Close()
	if push, ok := c.Out.(*events.Push); ok {
		push.Close()
	}
}

// endSession ends the session s.
func (r *Router) endSession(s *session.Session) { r.EndState(s.Key()) }

// EndState ends the session with the given key. The key consists of the session's ID and principal.
// Calls may still be open; their outcomes can be recorded later.
func (r *Router) EndState(k admission.Key) {
	if err := r.Admission.Sessions.End(context.Background(), k); err != nil {
		r.Life.Log.Error("ending a session", "session", k.Session, "error", err)
	}
}

// endDedicated closes the session s to new calls, and closes its dedicated connections to servers.
func (r *Router) endDedicated(s *session.Session) {
	s.Ended.Store(true)
	for _, u := range r.Pool.Servers {
		if dedicated := u.Release(s); dedicated != nil {
			r.Pool.EndDedicated(dedicated)
		}
	}
}

// Restore returns the client of an HTTP session that another replica opened, or that this one
// opened before a restart. It returns nil if the principal has no such session, and an error if the
// database cannot be read.
func (r *Router) Restore(ctx context.Context, id, principal string) (*session.Client, error) {
	kept := r.Sessions.Kept(id)
	if kept == "" {
		return nil, nil
	}
	info, err := r.Admission.Sessions.Find(ctx, kept)
	switch {
	case errors.Is(err, admission.ErrNoSession), err == nil && info.Ended:
		return nil, nil
	case err != nil:
		r.Life.Log.Error("looking for a session of another process", "session", kept, "error", err)
		return nil, err
	}
	c := r.Sessions.Restore(id, principal, info, events.NewPush(session.IsChange))
	if c != nil {
		r.Life.Log.Info("session taken over", "session", kept)
		r.Pool.Declare(ctx, c.Peer())
	}
	return c, nil
}

// overLimit is the maximum time that [Router.IsOver] waits for the database.
const overLimit = time.Second

// IsOver reports whether another replica has ended the client's session. If so, it drops the
// client. If the database does not respond in time, the session continues.
func (r *Router) IsOver(ctx context.Context, c *session.Client) bool {
	if !r.Sessions.Shared() || c.Session.About == nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, overLimit)
	defer cancel()
	info, err := r.Admission.Sessions.Find(ctx, c.Session.ID)
	if over := errors.Is(err, admission.ErrNoSession) || err == nil && info.Ended; !over {
		return false
	}
	r.ForgetClient(c)
	return true
}

// ForgetClient drops a client. It does not end the client's session, because other replicas may
// still serve the session.
func (r *Router) ForgetClient(c *session.Client) {
	c.Session.Left.Store(true)
	r.EndClient(c)
}
