package proxy

import (
	"context"
	"errors"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/events"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// answers reports whether the client declared that it answers such a request.
func (a agent) answers(method string, params []byte) bool {
	switch method {
	case "roots/list":
		_, ok := rawjson.Member(a.capabilities, "roots")
		return ok
	case "sampling/createMessage":
		_, ok := rawjson.Member(a.capabilities, "sampling")
		return ok
	case "elicitation/create":
		if member(params, "mode") != "url" {
			return a.elicit
		}
		elicitation, _ := rawjson.Member(a.capabilities, "elicitation")
		_, ok := rawjson.Member(elicitation, "url")
		return ok
	}
	return false
}

// mayAsk reports whether q can be put to the client a, and else refuses it.
// A member task of the params is left out: clients are not offered as receivers
// of tasks (capability tasks.requests of 2025-11-25), and a receiver that is not
// ignores it.
func mayAsk(a agent, q *upstream.ServerRequest) bool {
	if !a.answers(q.Method, q.Params) {
		refuseRequest(q)
		return false
	}
	if _, asTask := rawjson.Member(q.Params, "task"); asTask {
		q.Params = wire.AppendWithout(nil, q.Params, "task")
	}
	return true
}

// refuseRequest answers for a client that cannot.
func refuseRequest(q *upstream.ServerRequest) {
	q.Refuse(codeNoMethod, "the client does not support "+q.Method)
}

// passOn puts a request of u to c, whose answer goes back to u and nowhere
// else. Where u does not want it any more, the client is told.
func (p *Proxy) passOn(c *client, s stream, u *upstreamState, q *upstream.ServerRequest) {
	params, related := p.tasks.forClient(u, u.withServerName(q.Params))
	p.urlElicitations.at(u).sends(c, q.Method, q.Params)
	p.log.Debug("request of an upstream passed to its client", "upstream", u.config.Name, "method", q.Method, "session", c.session.id)
	asked := &question{progress: progressTo(u, q.Params), answer: func(result, failure []byte) {
		switch {
		case result == nil:
			q.Fail(failure)
		case related != "":
			q.Result(wire.RelateTask(result, related))
		default:
			q.Result(result)
		}
	}}
	if !c.questions.open(asked) {
		q.Refuse(codeInternal, "too many requests wait for the client")
		return
	}
	asked.send(s, q.Method, params)
	q.OnOver(func() {
		if asked.withdraw() {
			var reason upstream.Withdrawn // that the upstream has given
			_ = errors.As(context.Cause(q.Context()), &reason)
			s.Send(asked.cancelled(string(reason)))
		}
	})
}

// progressTo returns what passes notifications/progress of the client on to u, under
// the progressToken of its request; nil: that has none.
func progressTo(u *upstreamState, params []byte) func(params []byte) {
	token, ok := within(params, "_meta", "progressToken")
	if !ok {
		return nil
	}
	return func(params []byte) {
		u.Notify("notifications/progress", wire.ReplaceMember(nil, params, "progressToken", token))
	}
}

// progressed takes a notifications/progress of the client about its answer to
// one of our requests.
func (c *client) progressed(params []byte) {
	token, _ := rawjson.Member(params, "progressToken")
	q := c.questions.find(wire.IDKey(token))
	if q != nil && q.progress != nil {
		q.progress(params)
	}
}

// inquired takes a request of u that came without a sign of what it belongs
// to. It goes to the one client that it can be for, and else to nobody.
func (p *Proxy) inquired(u *upstreamState, q *upstream.ServerRequest) {
	if p.tasks.serverRequest(u, q) {
		return
	}
	if auto := u.config.Isolation == "" || u.config.Isolation == IsolateAuto; u.trunk == nil && auto && !u.branches.asks.Swap(true) {
		p.log.Info("an upstream asks clients: sessions that begin now have it for themselves", "upstream", u.config.Name, "method", q.Method)
	}
	flights := flightsTo(u)
	if len(flights) == 1 && !u.abandoned.byOthers(flights[0].call.client.session) {
		flights[0].inquired(q, false)
		return
	}
	var only *client
	var s stream
	for _, f := range flights {
		t := f.receiver()
		if t == nil || t.agent.rev.InputRequired || only != nil && only != t.client {
			p.unattributed(u, q)
			return
		}
		only, s = t.client, t.stream
	}
	if only == nil {
		only = p.onlyClient(u)
		if only != nil {
			s = only.out
		}
	}
	switch {
	case only == nil || s == nil || u.abandoned.byOthers(only.session):
		p.unattributed(u, q)
	case mayAsk(only.speaker(wire.Meta{}), q):
		u.settleDown(only.session)
		p.passOn(only, s, u, q)
	}
}

// onlyClient is the client with a handshake that u serves, if there is just one
// and it can be reached; nil: there is not.
func (p *Proxy) onlyClient(u *upstreamState) (only *client) {
	for _, c := range p.sessions.clients() {
		if !u.serves(c) {
			continue
		}
		if !c.ready() {
			continue
		}
		if push, ok := c.out.(*events.Push); only != nil || ok && !push.Listening() {
			return nil
		}
		only = c
	}
	return only
}
