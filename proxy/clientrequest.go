package proxy

import (
	"context"
	"errors"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/events"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// maxQuestions bounds the requests to one client that wait for an answer.
const maxQuestions = 256

// A question is a request of ours to a client. Its id is one that nobody can
// guess, and only the client that it was put to can answer it.
type question struct {
	answer   func(result, failure []byte) // one of them; called once, and must not wait
	progress func(params []byte)          // of the client; nil: it is not wanted
}

// expect notes a question to the client under the key of its id; false: too
// many wait.
func (c *client) expect(key string, q *question) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.questions) >= maxQuestions || c.gone {
		return false
	}
	c.questions[key] = q
	return true
}

// forget reports whether the question was still open.
func (c *client) forget(key string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, open := c.questions[key]
	delete(c.questions, key)
	return open
}

// response takes a client's response to a question of ours. One that nobody
// asked for is dropped.
func (c *client) response(m wire.Message) {
	key := wire.IDKey(m.ID)
	c.mu.Lock()
	q := c.questions[key]
	delete(c.questions, key)
	c.mu.Unlock()
	if q != nil {
		q.answer(m.Result, m.Error)
	}
}

// unanswered ends the questions to a client that is gone.
func (c *client) unanswered() {
	c.mu.Lock()
	left := c.questions
	c.questions, c.gone = map[string]*question{}, true
	c.mu.Unlock()
	for _, q := range left {
		q.answer(nil, []byte(`{"code":-32603,"message":"the client is gone"}`))
	}
}

// can reports whether the client declared that it answers such a request.
func (a agent) can(q *upstream.Inquiry) bool { return a.answers(q.Method, q.Params) }

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

// refuseInquiry answers for a client that cannot.
func refuseInquiry(q *upstream.Inquiry) {
	q.Refuse(codeNoMethod, "the client does not support "+q.Method)
}

// passOn puts a request of u to c, whose answer goes back to u and nowhere
// else. What it says of a task is for a client that makes one; see mayAsk.
func (p *Proxy) passOn(c *client, s stream, u *upstreamState, q *upstream.Inquiry) {
	id := string(rawjson.AppendString(nil, randomID("pg-")))
	params, token := retoken(p.asking(u, q.Params), []byte(id))
	w := &wish{proxy: p, pair: pair{u, c}, inquiry: q, progress: p.progressTo(u, c, token)}
	params, w.task = p.forClient(u, c, params)
	if token != nil {
		w.token = wire.IDKey([]byte(id))
	}
	if _, w.errand = rawjson.Member(params, "task"); w.errand && !p.errands.take(w.pair, p.options.Now()) {
		q.Refuse(codeInternal, "too many tasks are under way at the client")
		return
	}
	u.away.sends(c, q.Method, q.Params)
	p.log.Debug("request of an upstream passed to its client", "upstream", u.config.Name, "method", q.Method, "session", c.session.id)
	p.put(c, s, q, id, params, &question{answer: w.answered, progress: w.progress}, w.dropped)
}

// put sends a request of an upstream to c. Where the upstream does not want it
// any more, or there is no room, dropped is called instead of the answer, and the
// client is told.
func (p *Proxy) put(c *client, s stream, q *upstream.Inquiry, id string, params []byte, asked *question, dropped func()) {
	key := wire.IDKey([]byte(id))
	if !c.expect(key, asked) {
		dropped()
		q.Refuse(codeInternal, "too many requests wait for the client")
		return
	}
	s.Send(wire.AppendRequest(nil, []byte(id), q.Method, params))
	q.OnOver(func() {
		if c.forget(key) {
			dropped()
			s.Send(wire.AppendNotification(nil, "notifications/cancelled", cancelledParams(id, q)))
		}
	})
}

// cancelledParams tell that q is not wanted any more, and why if the upstream
// has said so.
func cancelledParams(id string, q *upstream.Inquiry) []byte {
	params := []byte(`{"requestId":` + id)
	var reason upstream.Withdrawn
	if errors.As(context.Cause(q.Context()), &reason) && reason != "" {
		params = rawjson.AppendString(append(params, `,"reason":`...), string(reason))
	}
	return append(params, '}')
}

// forClient is the params of a request of u to c with the id that c knows of the
// task that it belongs to; theirs is the upstream's.
func (p *Proxy) forClient(u *upstreamState, c *client, params []byte) (changed []byte, theirs string) {
	related := wire.RelatedTask(params)
	if x := p.tasks.called(u, related); x != nil {
		return wire.RelateTask(params, x.id), x.theirs
	}
	if e := p.errands.find(u, related); e != nil && e.client == c {
		return wire.RelateTask(params, e.theirs), e.id
	}
	return params, ""
}

// retoken puts a progress token of ours in the place of the upstream's, which
// it returns; nil: there is none.
func retoken(params, ours []byte) (changed, token []byte) {
	meta, _ := rawjson.Member(params, "_meta")
	token, ok := rawjson.Member(meta, "progressToken")
	if !ok {
		return params, nil
	}
	return wire.ReplaceMember(nil, params, "_meta", wire.ReplaceMember(nil, meta, "progressToken", ours)), token
}

// inquired takes a request of u that came without a sign of what it belongs
// to. It goes to the one client that it can be for, and else to nobody.
func (p *Proxy) inquired(u *upstreamState, q *upstream.Inquiry) {
	if p.taskInquiry(u, q) {
		return
	}
	if auto := u.config.Isolation == "" || u.config.Isolation == IsolateAuto; u.trunk == nil && auto && !u.branches.asks.Swap(true) {
		p.log.Info("an upstream asks clients: sessions that begin now have it for themselves", "upstream", u.config.Name, "method", q.Method)
	}
	flights := u.flights.all()
	if len(flights) == 1 && !u.straysOfOthers(flights[0].call.client.session) {
		flights[0].inquired(q, false)
		return
	}
	var only *client
	var s stream
	for _, f := range flights {
		t := f.receiver()
		if t == nil || t.agent.modern || only != nil && only != t.client {
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
	case only == nil || s == nil || u.straysOfOthers(only.session):
		p.unattributed(u, q)
	case u.mayAsk(only.speaker(wire.Meta{}), q):
		u.settleDown(only.session)
		p.passOn(only, s, u, q)
	}
}

// onlyClient is the client with a handshake that u serves, if there is just one
// and it can be reached; nil: there is not.
func (p *Proxy) onlyClient(u *upstreamState) (only *client) {
	for _, c := range p.clientList() {
		if !u.serves(c) {
			continue
		}
		c.mu.Lock()
		shaken := c.initialized
		c.mu.Unlock()
		if !shaken {
			continue
		}
		if push, ok := c.out.(*events.Push); only != nil || ok && !push.Listening() {
			return nil
		}
		only = c
	}
	return only
}
