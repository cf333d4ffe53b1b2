package session

import (
	"errors"

	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// A Request is a client's request that is not a call. Its handler returns a result or an error, and
// [Request.Answer] sends it.
type Request struct {
	Client  *Client
	Message wire.Message
	Meta    wire.Meta
	Stream  spec.Stream // stream for the answer and for messages that belong to the request
}

// Peer returns the client's description of itself, which comes from the request or the handshake.
func (q Request) Peer() Peer { return q.Client.PeerOf(q.Meta) }

// Rev returns the request's revision family.
func (q Request) Rev() *rev.Rev { return rev.Of(q.Meta.ProtocolVersion) }

// Answer sends the answer: a result, an error object from a server, or a fault. It sends any other
// error as an internal error. If it is given neither a result nor an error, Answer sends nothing,
// because the client has stopped waiting.
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
