// Package front implements the transports for clients: stdio, streamable HTTP, and HTTP+SSE
// (2024-11-05). It parses messages, passes calls to the pipeline, and passes other requests and all
// notifications to the router.
//
// [Front.ServeStdio] serves one stdio client. [Front.Handler] is the HTTP endpoint: [Access]
// configures who can use it, and package httpguard enforces that.
//
// # Goroutines
//
// A stdio or HTTP+SSE client has one reader, which handles one message at a time. Requests that may
// block, except initialize, run on separate goroutines. Over streamable HTTP, each request runs on
// its handler's goroutine (see package pipeline). A single goroutine ends idle HTTP sessions.
//
// # Locks
//
// reader.mu is held while a message is handled, so that no message is handled after the client has
// been dropped. sessionLimit.mu is held from counting the open sessions until a new session has been
// opened, so that their number cannot exceed the limit.
package front

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/proxy/internal/access"
	"github.com/petrigate/petrigate/proxy/internal/events"
	"github.com/petrigate/petrigate/proxy/internal/httpguard"
	"github.com/petrigate/petrigate/proxy/internal/lifetime"
	"github.com/petrigate/petrigate/proxy/internal/pipeline"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/router"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// A Front serves clients over stdio, streamable HTTP and HTTP+SSE. Its fields must be set before
// use.
type Front struct {
	Life       *lifetime.Lifetime
	Streaming  context.Context //nolint:containedctx // done when open-ended streams must end
	Sessions   *session.Sessions
	Pool       *pool.Pool
	Pipeline   *pipeline.Pipeline
	Router     *router.Router
	MaxRequest int // maximum size of a client's message in bytes

	// Asked returns the IDs of the sessions that have a pending approval request, or an approval
	// that has not been used yet.
	Asked func() map[string]bool

	// Hook handles an event from an agent's hook and returns the response for the agent. It returns
	// an error if the agent is unknown. It blocks while a person is asked.
	Hook func(ctx context.Context, principal, agent string, r *http.Request, event []byte) ([]byte, error)
}

// begin registers the ID of a request that is not a call, and returns a function that serves the
// request. If the ID is already in use, begin refuses the request and returns nil.
func (f *Front) begin(ctx context.Context, q session.Request) (serve func()) {
	requests, id, m := &q.Client.Requests, wire.IDKey(q.Message.ID), q.Message
	ctx, cancel := context.WithCancelCause(ctx)
	if !requests.Begin(id, session.CancelFunc(cancel)) {
		cancel(nil)
		f.Life.Log.Warn("request refused: its id is in flight", "method", m.Method, "session", q.Client.Session.ID)
		q.Answer(nil, wire.NewFault(wire.CodeInvalidRequest, "A request with this id is still in flight."))
		return nil
	}
	result := func() ([]byte, error) {
		defer requests.End(id) // the request must end before the response is sent, because a client that has read the response may reuse the ID
		return f.Router.ClientRequest(ctx, q)
	}
	return func() {
		defer cancel(nil)
		defer requests.Answered()
		defer f.Life.Recover(m.Method, m.ID, q.Stream)
		q.Answer(result())
	}
}

// duplicateCall refuses a call whose ID is already in use, and records the refusal.
func (f *Front) duplicateCall(t *pipeline.Call) {
	r := pipeline.PlainRefusal(string(gate.KindDuplicate), "A request with this id is still in flight; this call was not made.")
	if t.Tool != nil {
		f.Pipeline.RecordRefusal(t, r)
	}
	t.AnswerOnly(r)
}

// expireClients ends HTTP sessions that have been idle for longer than ttl. When the proxy shuts
// down, expireClients cancels the calls of all HTTP clients and returns.
func (f *Front) expireClients(ttl time.Duration) {
	if ttl == 0 {
		ttl = time.Hour
	}
	tick := time.NewTicker(ttl / 8)
	defer tick.Stop()
	for {
		select {
		case <-f.Life.Ctx.Done():
			for _, c := range f.Sessions.Clients() {
				if _, overHTTP := c.Out.(*events.Push); overHTTP {
					c.Requests.CancelCalls(spec.ErrClosing)
				}
			}
			return
		case <-tick.C:
		}
		if f.Sessions.Shared() {
			f.expireShared(ttl)
			continue
		}
		asked := f.Asked()
		for _, c := range f.Sessions.Clients() {
			if f.idle(c, ttl, asked) {
				f.Life.Log.Info("session expired", "session", c.Session.ID)
				f.Router.EndClient(c)
			}
		}
	}
}

// idle reports whether a session over streamable HTTP has been unused for longer than ttl. It
// returns false for clients of other transports. A session counts as used while it has an open
// request or stream, a pending approval request, or an approval that has not been used yet.
func (f *Front) idle(c *session.Client, ttl time.Duration, asked map[string]bool) bool {
	push, ok := c.Out.(*events.Push)
	if !ok {
		return false
	}
	return f.Sessions.Idle(c, c.Requests.Any() || push.Listening() || asked[c.State.ID], ttl)
}

// expireShared ends HTTP sessions that no replica has used for longer than ttl. It tells the other
// replicas which sessions are in use here, and drops the clients of sessions that other replicas
// have ended.
func (f *Front) expireShared(ttl time.Duration) {
	open := map[string]admission.SessionInfo{}
	for s, err := range f.Router.Admission.Sessions.List(f.Life.Ctx) {
		if err != nil {
			f.Life.Log.Warn("cannot look for idle sessions", "error", err)
			return
		}
		if s.Lasting {
			open[s.Session] = s
		}
	}
	now, asked := f.Life.Now(), f.Asked()
	for _, c := range f.Sessions.Clients() {
		if _, overHTTP := c.Out.(*events.Push); !overHTTP || c.Session.About == nil {
			continue
		}
		if _, there := open[c.Session.ID]; !there || f.idle(c, ttl, asked) {
			f.Router.ForgetClient(c)
			continue
		}
		delete(open, c.Session.ID)
		if f.Sessions.Seen(c, now.Add(-ttl/4)) {
			if err := f.Router.Admission.Sessions.Touch(f.Life.Ctx, c.Session.Key(), now); err != nil {
				f.Life.Log.Warn("could not tell other processes that a session is in use", "session", c.Session.ID, "error", err)
			}
		}
	}
	for id, s := range open {
		if session.ReadAbout(s.About).Client != "" && !asked[id] && now.Sub(s.Used) > ttl+ttl/2 {
			f.Life.Log.Info("session expired", "session", id)
			if err := f.Router.Admission.Sessions.End(f.Life.Ctx, s.Key); err != nil {
				f.Life.Log.Warn("ending an idle session", "session", id, "error", err)
			}
		}
	}
}

// Access configures who can use the HTTP endpoint. The zero value is invalid: set Token, Tokens or
// JWT, or set Open for a loopback address.
type Access = httpguard.Access

// JWT makes the endpoint an OAuth 2.1 resource server. A token's issuer and the value of its claim
// PrincipalClaim, by default the subject, together form its principal.
type JWT = access.JWT

// defaultPath is the endpoint's path if [Access] does not set one.
const defaultPath = "/mcp"

// Defaults for [Access].
const (
	defaultSessions    = 1000
	defaultSessionsAll = 10_000
)

// A sessionLimit limits the number of open HTTP sessions. Without it, a client could open any
// number of sessions.
type sessionLimit struct {
	each, all int

	mu sync.Mutex // held while counting sessions and opening one
}

// open opens a session and returns its client. If a limit has been reached, it returns the reason
// instead.
func (s *sessionLimit) open(f *Front, principal, transport string, header http.Header, out spec.Stream) (c *session.Client, refusal string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	own, all := f.Sessions.CountHTTP(principal)
	const wayOut = "; end an unused session (DELETE), or wait until idle sessions have ended"
	switch {
	case own >= s.each:
		return nil, fmt.Sprintf("you have %d open sessions, the maximum (listen.maxSessions)", own) + wayOut
	case all >= s.all:
		return nil, fmt.Sprintf("this proxy has %d open sessions, the maximum (listen.maxSessionsTotal)", all) + wayOut
	}
	c, err := f.Sessions.Connect(transport, principal, header, out)
	if err != nil {
		return nil, err.Error()
	}
	return c, ""
}
