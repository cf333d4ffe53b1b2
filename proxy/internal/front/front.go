// Package front takes the bytes of clients in and gives theirs out: over stdio,
// streamable HTTP, and HTTP+SSE (2024-11-05).
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
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// A Front takes the bytes of clients in and gives theirs out: over stdio, streamable
// HTTP, and HTTP+SSE.
type Front struct {
	Life       *lifetime.Lifetime
	Streaming  context.Context //nolint:containedctx // ends when streams without an end are to end
	Sessions   *session.Sessions
	Pool       *pool.Pool
	Pipeline   *pipeline.Pipeline
	Router     *router.Router
	MaxRequest int // bytes of one message of a client

	// Asked returns the sessions with calls that wait for a person, or that one has approved.
	Asked func() map[string]bool

	// Hook takes an event of an agent's hook, and returns the answer; an error says that there is
	// no such agent. It waits where a person is asked.
	Hook func(ctx context.Context, principal, agent string, r *http.Request, event []byte) ([]byte, error)
}

// begin records a request that is not a call under its id, and returns what serves it;
// nil: the id is in flight. The request that has it is not touched.
func (f *Front) begin(ctx context.Context, q session.Request) (serve func()) {
	requests, id, m := &q.Client.Requests, wire.IDKey(q.Message.ID), q.Message
	ctx, cancel := context.WithCancelCause(ctx)
	if !requests.Begin(id, session.CancelFunc(cancel)) {
		cancel(nil)
		f.Life.Log.Warn("request refused: its id is in flight", "method", m.Method, "session", q.Client.Session.ID)
		q.Answer(nil, wire.NewFault(spec.CodeInvalidRequest, "A request with this id is still in flight."))
		return nil
	}
	result := func() ([]byte, error) {
		defer requests.End(id) // before the answer: a client that has read it may use the id again
		return f.Router.ClientRequest(ctx, q)
	}
	return func() {
		defer cancel(nil)
		defer requests.Answered()
		defer f.Life.Recovered(m.Method, m.ID, q.Stream)
		q.Answer(result())
	}
}

// duplicateCall refuses a call whose id is in flight, and records the refusal.
func (f *Front) duplicateCall(t *pipeline.Call) {
	r := pipeline.PlainRefusal(string(gate.KindDuplicate), "A request with this id is still in flight; this call was not made.")
	if t.Tool != nil {
		f.Pipeline.RecordRefusal(t, r)
	}
	t.AnswerOnly(r)
}
