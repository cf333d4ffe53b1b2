// Package front takes the bytes of clients in and gives theirs out: over stdio,
// streamable HTTP, and HTTP+SSE (2024-11-05).
package front

import (
	"context"

	"github.com/petrigate/petrigate/proxy/internal/lifetime"
	"github.com/petrigate/petrigate/proxy/internal/pipeline"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/router"
	"github.com/petrigate/petrigate/proxy/internal/session"
)

// Options says what a Front needs of the rest of the proxy.
type Options struct {
	Life       *lifetime.Lifetime
	Streaming  context.Context //nolint:containedctx // ends when streams without an end are to end
	Sessions   *session.Sessions
	Pool       *pool.Pool
	Pipeline   *pipeline.Pipeline
	Router     *router.Router
	MaxRequest int // bytes of one message of a client
}

// A Front takes the bytes of clients in and gives theirs out: over stdio, streamable
// HTTP, and HTTP+SSE.
type Front struct{ Options }

// New returns a Front.
func New(o Options) *Front { return &Front{o} }
