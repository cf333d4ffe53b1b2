package proxy

import (
	"context"
	"time"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// elicit asks a client with a handshake, on the stream of the call. The
// answer is taken as long as the question stands; a parked call finds it
// later. Calls that ask the same share one prompt. Where another channel
// answers first, the client is told to stop.
func (p *Proxy) elicit(t *toolCall, r *approval) {
	id := string(rawjson.AppendString(nil, randomID("pg-")))
	answer := make(chan []byte, 1)
	if !p.approvals.show(r) {
		return
	}
	gone := make(chan struct{})
	context.AfterFunc(t.ctx, func() {
		if !t.wanted() {
			close(gone)
		}
	})
	t.client.expect(wire.IDKey([]byte(id)), answer)
	t.stream.send(wire.AppendRequest(nil, []byte(id), "elicitation/create", p.elicitParams(r)))
	p.background(func() {
		defer t.client.forget(wire.IDKey([]byte(id)))
		timer := time.NewTimer(r.expires.Sub(p.options.Now()))
		defer timer.Stop()
		select {
		case result := <-answer:
			p.answered(r, result)
			return
		case <-r.answered:
		case <-gone:
			p.approvals.unshow(r)
		case <-timer.C:
		case <-p.ctx.Done():
		}
		params := []byte(`{"requestId":` + id + `,"reason":"answered elsewhere or no longer needed"}`)
		t.stream.send(wire.AppendNotification(nil, "notifications/cancelled", params))
	})
}

// expect notes a question to the client under its id, which nobody can guess.
func (c *client) expect(id string, answer chan []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.questions[id] = answer
}

func (c *client) forget(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.questions, id)
}

// response takes a client's response to a question of ours. One that nobody
// asked for is dropped; an error means that nobody was asked.
func (c *client) response(m wire.Message) {
	c.mu.Lock()
	answer := c.questions[wire.IDKey(m.ID)]
	delete(c.questions, wire.IDKey(m.ID))
	c.mu.Unlock()
	switch {
	case answer == nil:
	case m.Result == nil:
		answer <- []byte(`{}`)
	default:
		answer <- m.Result
	}
}
