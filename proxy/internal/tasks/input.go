package tasks

import (
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/events"
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// ServerRequest takes a request of u that belongs to a task (elicitation/create,
// sampling/createMessage or roots/list with the _meta of a related task), on
// whatever stream it came, and reports whether it is such. A client that cannot be
// reached now is asked when it waits for the result.
func (s *Tasks) ServerRequest(u *pool.Server, q *upstream.ServerRequest) bool {
	x := s.byServer(u, wire.RelatedTask(q.Params))
	if x == nil {
		return false
	}
	t := x.origin
	switch {
	case !session.MayAsk(t.Peer, q):
		return true
	case t.Peer.Rev.InputRequired:
		x.addInput(q)
		return true
	}
	to := x.stream()
	if push, ok := to.(*events.Push); to == nil || ok && !push.Listening() {
		x.hold(q)
		return true
	}
	s.Ask(t.Client, to, u, q)
	return true
}

// join notes a stream on which the client waits for the result, and asks the
// client there what the server has asked meanwhile.
func (s *Tasks) join(x *Task, here spec.Stream) {
	for _, q := range x.join(here) {
		s.Ask(x.origin.Client, here, x.Upstream, q)
	}
}

// ForClient returns the params of a request of u with the id of its task that clients
// know, and the server's id; empty: the request belongs to no task.
func (s *Tasks) ForClient(u *pool.Server, params []byte) (changed []byte, theirs string) {
	if x := s.byServer(u, wire.RelatedTask(params)); x != nil {
		return wire.RelateTask(params, x.id), x.theirs
	}
	return params, ""
}

// inputRequests returns the requests of the server that have no answer as the
// member inputRequests of a task (2026-07-28); nil: there are none.
func (s *Tasks) inputRequests(x *Task) []byte {
	open := x.openInputs()
	if len(open) == 0 {
		return nil
	}
	b := []byte(`"inputRequests":{`)
	for i, in := range open {
		if i > 0 {
			b = append(b, ',')
		}
		params, _ := s.ForClient(x.Upstream, x.Upstream.WithServerName(in.request.Params))
		b = spec.AppendInput(b, in.key, in.request.Method, params)
	}
	return append(b, '}')
}

// update hands the inputResponses of tasks/update to the server, and ignores responses to
// requests that are not open.
func (x *Task) update(responses []byte) {
	rawjson.Members(responses, func(key, response []byte, _ int) bool {
		if q := x.takeInput(string(key)); q != nil {
			q.Result(wire.RelateTask(response, x.theirs))
		}
		return true
	})
}
