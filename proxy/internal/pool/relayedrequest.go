package pool

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// A RelayedRequest is a client's request that needs no decision by the gate. The proxy forwards it
// to one server, and forwards the response to the client. Calls use the pipeline instead, because
// their outcomes change the markings of nets.
type RelayedRequest struct {
	session.Request
	Peer     session.Peer
	Upstream *Server
	Name     string          // value of the Mcp-Name header in revision 2026-07-28
	Outbox   *session.Outbox // notifications to be sent by the goroutine that waits for the reply

	Patient bool // whether to ignore the server's timeout, because the response may take longer

	OnNotification func(method string, params []byte) // handles the server's notifications about this request
	OnRequest      func(q *upstream.ServerRequest)    // handles requests that the server makes while this request is open

	Change  func(params []byte) []byte // changes the params before they are sent; may be nil
	Amend   func(result []byte) []byte // changes the result before the client receives it; may be nil
	Refused func()                     // called when the server returns an error, before the client learns of it; may be nil
}

// NewRelayedRequest returns a RelayedRequest that sends q to the server u.
func NewRelayedRequest(q session.Request, u *Server) *RelayedRequest {
	return &RelayedRequest{Request: q, Peer: q.Peer(), Upstream: u, Outbox: session.NewOutbox()}
}

// Serve sends the request and returns either the result for the client or the server's error. If
// the request was canceled, it returns neither.
func (r *RelayedRequest) Serve(ctx context.Context) ([]byte, error) {
	reply, err := r.Exchange(ctx)
	switch {
	case ctx.Err() != nil:
		return nil, nil
	case err != nil:
		return nil, err
	case reply.Error != nil:
		if r.Refused != nil {
			r.Refused()
		}
		return nil, upstream.Refused(reply.Error)
	case r.Amend != nil:
		reply.Result = r.Amend(reply.Result)
	}
	return r.Upstream.ResultFor(reply.Result, r.Message.Method, r.Peer.Rev), nil
}

// Exchange sends the request and returns the reply. It cancels the request after the server's
// timeout or when ctx is done.
func (r *RelayedRequest) Exchange(ctx context.Context) (upstream.Reply, error) {
	u := r.Upstream
	request, fault := r.convertForServer()
	if fault != nil {
		return upstream.Reply{}, fault
	}
	if !r.Patient {
		var cancel context.CancelFunc
		late := fmt.Errorf("upstream %s did not answer within %s", u.Config.Name, u.Config.Timeout)
		ctx, cancel = context.WithTimeoutCause(ctx, u.Config.Timeout, late)
		defer cancel()
	}
	x := u.Send(request)
	for {
		select {
		case <-r.Outbox.Wake:
			r.Outbox.WriteTo(r.Stream)
		case reply := <-x.Done():
			r.Outbox.WriteTo(r.Stream) // send the notifications that arrived before the reply
			if reply.Err != nil {
				return reply, fmt.Errorf("upstream %s: %v", u.Config.Name, reply.Err)
			}
			return reply, nil
		case <-ctx.Done():
			err := context.Cause(ctx)
			x.Cancel(err.Error())
			return upstream.Reply{}, err
		}
	}
}

// convertForServer converts the request to the form required by the server's revision.
func (r *RelayedRequest) convertForServer() (upstream.Request, error) {
	call, fault := wire.ParseRequest(r.Message)
	if fault != nil {
		return upstream.Request{}, errors.New(fault.Message)
	}
	out := upstream.Request{Method: r.Message.Method, Name: r.Name, Notify: r.OnNotification, Ask: r.OnRequest}
	hop := wire.Hop{Name: call.Name}
	if r.Message.Method == "tasks/update" { // forward the client's inputResponses, which are part of the params
		hop.InputResponses = call.InputResponses
	}
	if r.Upstream.Rev().PerRequest {
		hop.Meta = r.Client.WithLogLevel(r.Peer, r.Meta, r.Upstream.RequestMeta(r.Peer.Forwarded()))
	}
	if r.Meta.ProgressToken != nil {
		out.Token = r.Upstream.NewToken()
		hop.ProgressToken = strconv.AppendInt(nil, out.Token, 10)
	}
	out.Params = call.AppendForward(nil, hop)
	if r.Change != nil {
		out.Params = r.Change(out.Params)
	}
	return out, nil
}

// Notify forwards a server's notification about this request to the client.
func (r *RelayedRequest) Notify(method string, params []byte) {
	if note := r.Client.Notification(r.Peer, r.Meta, method, params); note != nil {
		r.Outbox.Add(note)
	}
}

// CheckCapability reports whether the client can receive the server's request q. If not, it refuses
// q. A client that uses revision 2026-07-28 can receive a server's request only during a call, so
// CheckCapability always refuses q for it.
func (r *RelayedRequest) CheckCapability(q *upstream.ServerRequest) bool {
	if r.Peer.Rev.InputRequired {
		session.RefuseRequest(q)
		return false
	}
	return session.CheckCapability(r.Peer, q)
}
