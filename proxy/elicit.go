package proxy

import (
	"context"
	"time"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/approval"
	"github.com/petrigate/petrigate/proxy/internal/events"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// elicit asks a client with a handshake, on the stream of the call. The
// answer is taken as long as the question stands; a parked call finds it
// later. Calls that ask the same share one prompt. Where another channel
// answers first, the client is told to stop, and what is returned closed when it
// has been: soon after the question is answered.
func (p *Proxy) elicit(t *toolCall, r *approval.Question) <-chan struct{} {
	id := string(rawjson.AppendString(nil, randomID("pg-")))
	answer := make(chan []byte, 1)
	told := make(chan struct{})
	if !p.approvals.Show(r) {
		close(told)
		return told
	}
	gone := make(chan struct{})
	context.AfterFunc(t.ctx, func() {
		if !t.wanted() {
			close(gone)
		}
	})
	if !t.client.expect(wire.IDKey([]byte(id)), &question{answer: func(result, _ []byte) {
		if result == nil { // an error means that nobody was asked
			result = []byte(`{}`)
		}
		answer <- result
	}}) {
		p.approvals.Unshow(r)
		close(told)
		return told
	}
	p.approvals.Put(r, approval.Elicit)
	t.stream.Send(wire.AppendRequest(nil, []byte(id), "elicitation/create", p.elicitParams(r)))
	if !p.background(func() {
		defer close(told)
		timer := time.NewTimer(r.Expires.Sub(p.options.Now()))
		defer timer.Stop()
		select {
		case result := <-answer:
			p.answered(r, approval.Elicit, result)
			return
		case <-r.Answered():
		case <-gone:
		case <-timer.C:
		case <-p.ctx.Done():
		}
		if !t.client.forget(wire.IDKey([]byte(id))) { // the client has just answered
			p.answered(r, approval.Elicit, <-answer)
			return
		}
		p.approvals.Unshow(r)
		params := []byte(`{"requestId":` + id + `,"reason":"answered elsewhere or no longer needed"}`)
		t.say(wire.AppendNotification(nil, "notifications/cancelled", params))
	}) {
		t.client.forget(wire.IDKey([]byte(id)))
		close(told)
	}
	return told
}

// say tells the client something on the stream of the call, or where that has
// ended, on the one for what belongs to no request.
func (t *toolCall) say(note []byte) {
	post, ok := t.stream.(*events.Post)
	switch {
	case !ok:
		t.stream.Send(note)
	case !post.Try(note):
		t.client.out.Send(note)
	}
}
