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

// ServerRequest handles a server's request that belongs to a task (elicitation/create,
// sampling/createMessage or roots/list with related-task in its _meta). The request can arrive on
// any stream. ServerRequest returns false if the request does not belong to a task. If the client
// cannot be reached now, the client is asked when it waits for the result.
func (s *Tasks) ServerRequest(u *pool.Server, q *upstream.ServerRequest) bool {
	x := s.byServer(u, wire.RelatedTask(q.Params))
	if x == nil {
		return false
	}
	t := x.origin
	switch {
	case !session.CheckCapability(t.Peer, q):
		return true
	case t.Peer.Rev.InputRequired:
		x.addInput(q)
		return true
	}
	to := x.stream()
	if push, ok := to.(*events.Push); to == nil || ok && !push.Listening() {
		x.queueInput(q)
		return true
	}
	s.Ask(t.Client, to, u, q)
	return true
}

// join adds the stream of a client that waits for the result. It sends the server's pending
// requests on this stream.
func (s *Tasks) join(x *Task, here spec.Stream) {
	for _, q := range x.join(here) {
		s.Ask(x.origin.Client, here, x.Upstream, q)
	}
}

// ForClient returns the params of a server's request with the task ID that clients know instead of
// the server's own. It also returns the server's own task ID, which is empty if the request does
// not belong to a task.
func (s *Tasks) ForClient(u *pool.Server, params []byte) (changed []byte, theirs string) {
	if x := s.byServer(u, wire.RelatedTask(params)); x != nil {
		return wire.RelateTask(params, x.id), x.theirs
	}
	return params, ""
}

// inputRequests returns the unanswered requests of the server as the value of a task's member
// inputRequests (2026-07-28). It returns nil if all requests have been answered.
func (s *Tasks) inputRequests(x *Task) []byte {
	open := x.openInputs()
	if len(open) == 0 {
		return nil
	}
	var requests rawjson.Object
	for _, in := range open {
		params, _ := s.ForClient(x.Upstream, x.Upstream.WithServerName(in.request.Params))
		requests = requests.Raw(in.key, spec.Input(in.request.Method, params))
	}
	return requests.Bytes()
}

// update forwards the inputResponses of a tasks/update request to the server. It ignores responses
// to requests that are not open.
func (x *Task) update(responses []byte) {
	rawjson.Members(responses, func(key, response []byte, _ int) bool {
		if q := x.takeInput(string(key)); q != nil {
			q.Result(wire.RelateTask(response, x.theirs))
		}
		return true
	})
}
