package session

import (
	"errors"

	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// A Request is a request of a client that is not a call. Who serves it returns the result
// or an error, which [Request.Answer] sends.
type Request struct {
	Client  *Client
	Message wire.Message
	Meta    wire.Meta
	Stream  spec.Stream // for the answer, and for what belongs to the request
}

// Peer returns what the client says about itself, in the request or in its handshake.
func (q Request) Peer() Peer { return q.Client.PeerOf(q.Meta) }

// Rev returns the family of revisions that the request is of.
func (q Request) Rev() *rev.Rev { return rev.Of(q.Meta) }

// Answer sends the answer: a result, the error object of a server, a fault, or any other
// error as an internal one. Without result and error nobody waits for an answer.
func (q Request) Answer(result []byte, err error) {
	id := q.Message.ID
	var refused upstream.Refused
	var fault *wire.Fault
	switch {
	case errors.As(err, &refused):
		q.Stream.Reply(wire.ErrorHead(id), refused, wire.Tail)
	case errors.As(err, &fault):
		q.Stream.Reply(wire.AppendError(nil, id, fault.Code, fault.Message, fault.Data))
	case err != nil:
		q.Stream.Reply(wire.AppendError(nil, id, spec.CodeInternal, err.Error(), nil))
	case result != nil:
		q.Stream.Reply(wire.ResultHead(id), result, wire.Tail)
	}
}
