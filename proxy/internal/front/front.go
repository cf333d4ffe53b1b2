// Package front implements the transports to clients: stdio, streamable HTTP, and HTTP+SSE
// (2024-11-05). It parses messages and passes them to the pipeline (calls) or to the router (other
// messages).
//
// [Front.ServeStdio] serves one stdio client. [Front.Handler] is the HTTP endpoint: [Access]
// configures who can use it, and package httpguard enforces that.
//
// # Goroutines
//
// A stdio or HTTP+SSE client has one reader, which handles one message at a time. Requests that may
// block run on separate goroutines. Over streamable HTTP, each request runs on its handler's
// goroutine (see package pipeline). A single goroutine ends idle HTTP sessions.
//
// # Locks
//
// reader.mu is held while a message is handled, so that no message is handled after the client has
// been dropped. sessionLimit.mu is held while sessions are counted and another one is opened.
package front

import (
	"context"
	"net/http"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/proxy/internal/lifetime"
	"github.com/petrigate/petrigate/proxy/internal/pipeline"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/router"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// A Front serves clients over stdio, streamable HTTP and HTTP+SSE. Its fields must be set before
// use.
type Front struct {
	Life       *lifetime.Lifetime
	Streaming  context.Context //nolint:containedctx // ends when streams without an end are to end
	Sessions   *session.Sessions
	Pool       *pool.Pool
	Pipeline   *pipeline.Pipeline
	Router     *router.Router
	MaxRequest int // maximum size of a client's message in bytes

	// Asked returns the sessions that have calls waiting for a person, or approved calls.
	Asked func() map[string]bool

	// Hook handles an event from an agent's hook and returns the answer. If the agent is unknown,
	// it returns an error. It blocks while a person is asked.
	Hook func(ctx context.Context, principal, agent string, r *http.Request, event []byte) ([]byte, error)
}

// begin registers the ID of a request that is not a call, and returns a function that serves the
// request. If a request with that ID is in flight, begin refuses the new request and returns nil.
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
		defer requests.End(id) // this must happen before the answer is sent, because a client that has read the answer may reuse the ID
		return f.Router.ClientRequest(ctx, q)
	}
	return func() {
		defer cancel(nil)
		defer requests.Answered()
		defer f.Life.Recovered(m.Method, m.ID, q.Stream)
		q.Answer(result())
	}
}

// duplicateCall refuses a call whose ID is already in flight, and records the refusal.
func (f *Front) duplicateCall(t *pipeline.Call) {
	r := pipeline.PlainRefusal(string(gate.KindDuplicate), "A request with this id is still in flight; this call was not made.")
	if t.Tool != nil {
		f.Pipeline.RecordRefusal(t, r)
	}
	t.AnswerOnly(r)
}
