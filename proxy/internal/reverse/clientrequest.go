package reverse

import (
	"context"
	"errors"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// PassOn sends a request from u to the client c, and the response back to u. If u cancels the
// request, PassOn cancels it at the client.
func (p *Reverse) PassOn(c *session.Client, s spec.Stream, u *pool.Server, q *upstream.ServerRequest) {
	params, related := p.Tasks.ForClient(u, u.WithServerName(q.Params))
	p.URLElicitations.At(u).RecordRequest(c, q.Method, q.Params)
	p.Life.Log.Debug("passed a request of an upstream to its client", "upstream", u.Config.Name, "method", q.Method, "session", c.Session.ID)
	asked := &session.ClientRequest{Progress: progressTo(u, q.Params), Answer: func(result, failure []byte) {
		switch {
		case result == nil:
			q.Fail(failure)
		case related != "":
			q.Result(wire.RelateTask(result, related))
		default:
			q.Result(result)
		}
	}}
	if !c.ClientRequests.Open(asked) {
		q.Refuse(spec.CodeInternal, "too many requests are waiting for the client")
		return
	}
	asked.Send(s, q.Method, params)
	q.OnOver(func() {
		if asked.Withdraw() {
			var reason upstream.Withdrawn // the reason from the upstream
			_ = errors.As(context.Cause(q.Context()), &reason)
			s.Send(asked.Cancelled(string(reason)))
		}
	})
}

// progressTo returns a function that forwards the client's notifications/progress to u, with the
// progressToken of the server's request. If that request has no token, progressTo returns nil.
func progressTo(u *pool.Server, params []byte) func(params []byte) {
	token, ok := rawjson.MemberAt(params, "_meta", "progressToken")
	if !ok {
		return nil
	}
	return func(params []byte) {
		u.Notify("notifications/progress", wire.ReplaceMember(nil, params, "progressToken", token))
	}
}

// Progressed handles a client's progress notification about a server's request.
func Progressed(c *session.Client, params []byte) {
	token, _ := rawjson.Member(params, "progressToken")
	q := c.ClientRequests.Find(wire.IDKey(token))
	if q != nil && q.Progress != nil {
		q.Progress(params)
	}
}
