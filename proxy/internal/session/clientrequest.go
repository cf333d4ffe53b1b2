package session

import (
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// Answers reports whether the client declared that it answers such a request.
func (p Peer) Answers(method string, params []byte) bool {
	switch method {
	case "roots/list":
		_, ok := rawjson.Member(p.Capabilities, "roots")
		return ok
	case "sampling/createMessage":
		_, ok := rawjson.Member(p.Capabilities, "sampling")
		return ok
	case "elicitation/create":
		if spec.Member(params, "mode") != "url" {
			return p.Elicit
		}
		elicitation, _ := rawjson.Member(p.Capabilities, "elicitation")
		_, ok := rawjson.Member(elicitation, "url")
		return ok
	}
	return false
}

// MayAsk reports whether q can be put to the client a, and else refuses it.
// A member task of the params is left out: clients are not offered as receivers
// of tasks (capability tasks.requests of 2025-11-25), and a receiver that is not
// ignores it.
func MayAsk(p Peer, q *upstream.ServerRequest) bool {
	if !p.Answers(q.Method, q.Params) {
		RefuseRequest(q)
		return false
	}
	if _, asTask := rawjson.Member(q.Params, "task"); asTask {
		q.Params = wire.AppendWithout(nil, q.Params, "task")
	}
	return true
}

// RefuseRequest answers for a client that cannot.
func RefuseRequest(q *upstream.ServerRequest) {
	q.Refuse(spec.CodeNoMethod, "the client does not support "+q.Method)
}
