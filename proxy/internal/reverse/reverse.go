// Package reverse forwards requests from servers to clients (sampling/createMessage,
// elicitation/create and roots/list), and the responses back.
package reverse

import (
	"context"
	"errors"
	"sync"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/lifetime"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/tasks"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// A Reverse forwards requests from servers to clients, and the responses back to the servers.
type Reverse struct {
	Life     *lifetime.Lifetime
	Sessions *session.Sessions
	Tasks    *tasks.Tasks

	URLElicitations pool.ServerMap[URLElicitations]
}

// ElicitationComplete forwards notifications/elicitation/complete to the client that received the
// elicitation.
func (p *Reverse) ElicitationComplete(u *pool.Server, params []byte) {
	c := p.URLElicitations.At(u).find(rawjson.StringAt(params, "elicitationId"))
	if c != nil && c.Out != nil && p.Sessions.Has(c) {
		c.Out.Send(wire.AppendNotification(nil, spec.ElicitationComplete, params))
	}
}

// PassOn forwards a request from u to the client c, and the response back to u. If u cancels the
// request, PassOn cancels it at the client.
func (p *Reverse) PassOn(c *session.Client, s spec.Stream, u *pool.Server, q *upstream.ServerRequest) {
	params, related := p.Tasks.ForClient(u, u.WithServerName(q.Params))
	p.URLElicitations.At(u).RecordRequest(c, q.Method, q.Params)
	p.Life.Log.Debug("passed a request from an upstream to its client", "upstream", u.Config.Name, "method", q.Method, "session", c.Session.ID)
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
		q.Refuse(wire.CodeInternal, "too many requests are waiting for the client")
		return
	}
	asked.Send(s, q.Method, params)
	q.OnOver(func() {
		if asked.Withdraw() {
			reason, _ := errors.AsType[upstream.Withdrawn](context.Cause(q.Context()))
			s.Send(asked.Cancelled(string(reason)))
		}
	})
}

// progressTo returns a function that forwards a client's notifications/progress to u. The function
// uses the progressToken from the params of the server's request. If these contain no
// progressToken, progressTo returns nil.
func progressTo(u *pool.Server, params []byte) func(params []byte) {
	token, ok := rawjson.MemberAt(params, "_meta", "progressToken")
	if !ok {
		return nil
	}
	return func(params []byte) {
		u.Notify("notifications/progress", wire.ReplaceMember(nil, params, "progressToken", token))
	}
}

// Progressed forwards a client's progress notification about a server's request to that server.
func Progressed(c *session.Client, params []byte) {
	token, _ := rawjson.Member(params, "progressToken")
	q := c.ClientRequests.Find(wire.IDKey(token))
	if q != nil && q.Progress != nil {
		q.Progress(params)
	}
}

// maxURLElicitations is the maximum number of URL-mode elicitations recorded per server. The oldest
// are dropped first.
const maxURLElicitations = 256

// URLElicitations records, by elicitationId, which client has received each of a server's URL-mode
// elicitations. Only that client must be told when the elicitation is complete. URLElicitations is
// safe for concurrent use.
type URLElicitations struct {
	mu      sync.Mutex
	clients map[string]*session.Client
	order   []string
}

func (s *URLElicitations) note(id string, c *session.Client) {
	if id == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.clients == nil {
		s.clients = map[string]*session.Client{}
	}
	if s.clients[id] == nil {
		s.order = append(s.order, id)
	}
	s.clients[id] = c
	if len(s.order) > maxURLElicitations {
		delete(s.clients, s.order[0])
		s.order = s.order[1:]
	}
}

func (s *URLElicitations) find(id string) *session.Client {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clients[id]
}

// RecordRequest records that the client c receives an elicitation/create request. It does nothing
// for other requests, or if the elicitation is not in URL mode.
func (s *URLElicitations) RecordRequest(c *session.Client, method string, params []byte) {
	if method == "elicitation/create" && rawjson.StringAt(params, "mode") == "url" {
		s.note(rawjson.StringAt(params, "elicitationId"), c)
	}
}

// WithElicitationID adds a random elicitationId to the params of a URL-mode elicitation. It is used
// if the server uses revision 2026-07-28 and the client uses revision 2025-11-25, which requires an
// elicitationId. The client is not told when the elicitation is complete. The protocol does not
// require this.
func WithElicitationID(method string, params []byte) []byte {
	if method != "elicitation/create" || rawjson.StringAt(params, "mode") != "url" {
		return params
	}
	return wire.AppendStamped(nil, params, rawjson.Object{}.String("elicitationId", lifetime.RandomID("")).Bytes())
}

// RecordError records that the client c receives an error that contains URL-mode elicitations
// (URLElicitationRequired, code -32042). It ignores other errors.
func (s *URLElicitations) RecordError(c *session.Client, failure []byte) {
	if code, _ := rawjson.Member(failure, "code"); string(code) != "-32042" {
		return
	}
	list, _ := rawjson.MemberAt(failure, "data", "elicitations")
	n := 0
	rawjson.Elements(list, func(visit []byte, _ int) bool {
		s.note(rawjson.StringAt(visit, "elicitationId"), c)
		n++
		return n < maxURLElicitations
	})
}
