package pool

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// A Relayed request is one that no gate decides on: it goes to one upstream as
// it came, and so does the answer. Calls, whose outcome moves nets, are
// flights instead.
type RelayedRequest struct {
	Client   *session.Client
	Stream   spec.Stream
	Peer     session.Peer
	Message  wire.Message
	meta     wire.Meta
	Upstream *Server
	Name     string          // for the header of revision 2026-07-28
	Outbox   *session.Outbox // for the goroutine that waits for the answer

	Patient bool // the answer may take longer than the upstream may

	OnNotification func(method string, params []byte) // of the upstream, with the request
	OnRequest      func(q *upstream.ServerRequest)    // of the upstream, with the request

	Change func(params []byte) []byte // of the params on their way; nil: none
	Amend  func(result []byte) []byte // of the result on its way back; nil: none
}

func NewRelayedRequest(c *session.Client, m wire.Message, meta wire.Meta, s spec.Stream, u *Server) *RelayedRequest {
	return &RelayedRequest{Client: c, Stream: s, Peer: c.PeerOf(meta), Message: m, meta: meta, Upstream: u, Outbox: session.NewOutbox()}
}

func (r *RelayedRequest) Serve(ctx context.Context) bool {
	reply, err := r.Exchange(ctx)
	switch {
	case ctx.Err() != nil:
		return false // nobody waits for an answer
	case err != nil:
		r.Stream.Reply(wire.AppendError(nil, r.Message.ID, spec.CodeInternal, err.Error(), nil))
	case reply.Error != nil:
		r.Stream.Reply(wire.ErrorHead(r.Message.ID), reply.Error, wire.Tail)
	default:
		if r.Amend != nil {
			reply.Result = r.Amend(reply.Result)
		}
		r.Stream.Reply(wire.ResultHead(r.Message.ID), r.Upstream.ResultFor(reply.Result, r.Message.Method, r.Peer.Rev), wire.Tail)
		return true
	}
	return false
}

// Exchange sends the request and waits for the reply, no longer than the
// upstream may take.
func (r *RelayedRequest) Exchange(ctx context.Context) (upstream.Reply, error) {
	u := r.Upstream
	request, fault := r.request()
	if fault != nil {
		return upstream.Reply{}, fault
	}
	x := u.Send(request)
	timer := time.NewTimer(u.Config.Timeout)
	defer timer.Stop()
	if r.Patient {
		timer.Stop()
	}
	var err error
	for err == nil {
		select {
		case <-r.Outbox.Wake:
			r.Outbox.WriteTo(r.Stream)
		case reply := <-x.Done():
			r.Outbox.WriteTo(r.Stream) // what came before it
			if reply.Err != nil {
				err = fmt.Errorf("upstream %s: %v", u.Config.Name, reply.Err)
			}
			return reply, err
		case <-timer.C:
			err = fmt.Errorf("upstream %s gave no answer within %s", u.Config.Name, u.Config.Timeout)
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
	}
	x.Cancel(err.Error())
	return upstream.Reply{}, err
}

// request is the message as the upstream gets it.
func (r *RelayedRequest) request() (upstream.Request, error) {
	call, fault := wire.ParseRequest(r.Message)
	if fault != nil {
		return upstream.Request{}, errors.New(fault.Message)
	}
	out := upstream.Request{Method: r.Message.Method, Name: r.Name, Notify: r.OnNotification, Ask: r.OnRequest}
	hop := wire.Hop{Name: call.Name}
	if r.Message.Method == "tasks/update" { // there they are what it is about
		hop.InputResponses = call.InputResponses
	}
	if r.Upstream.Rev().PerRequest {
		hop.Modern, hop.Meta = true, r.Client.WithLogLevel(r.Peer, r.meta, r.Upstream.RequestMeta(r.Peer.Forwarded()))
	}
	if r.meta.ProgressToken != nil {
		out.Token = r.Upstream.NewToken()
		hop.ProgressToken = strconv.AppendInt(nil, out.Token, 10)
	}
	out.Params = call.AppendForward(nil, hop)
	if r.Change != nil {
		out.Params = r.Change(out.Params)
	}
	return out, nil
}

// Notify passes a notification that belongs to the request to its client.
func (r *RelayedRequest) Notify(method string, params []byte) {
	if note := r.Client.Notification(r.Peer, r.meta, method, params); note != nil {
		r.Outbox.Add(note)
	}
}

// MayAsk reports whether a request of the upstream can be put to the client, and
// else refuses it. In 2026-07-28 these methods have no rounds.
func (r *RelayedRequest) MayAsk(q *upstream.ServerRequest) bool {
	if r.Peer.Rev.InputRequired {
		session.RefuseRequest(q)
		return false
	}
	return session.MayAsk(r.Peer, q)
}
