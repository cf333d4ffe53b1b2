package proxy

import (
	"context"
	"time"

	"github.com/petrigate/petrigate/proxy/internal/events"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// A completion is how a round of a call ends for its client.
type completion struct {
	inflight *inflightCall
	reply    upstream.Reply
	settled  bool   // the nets know
	round    []byte // in place of the reply: what the upstream asks
}

// complete hands c to the goroutine of the client, if one waits.
func (t *toolCall) complete(c completion) {
	if !t.hand(c) {
		t.receive(c)
	}
}

func (t *toolCall) receive(c completion) {
	switch {
	case c.round != nil:
		t.pass(wire.ResultHead(t.id), c.round)
	case c.settled && c.inflight.handle != nil:
		c.inflight.answerTask(t)
	case c.settled:
		t.deliver(c.reply, wire.ResultFacts(c.reply.Result))
	default:
		c.inflight.finish(t, c.reply)
	}
}

// serveCall serves a call on the goroutine of its client, and returns when it
// is answered. The end of ctx cancels the call, for that reason.
func (p *Proxy) serveCall(ctx context.Context, t *toolCall, reason error) {
	t.waitHere()
	if t.tool == nil || t.tool.upstream.OneReader() {
		t.notes = newNotes()
	}
	t.aside = func(f func()) {
		t.turn.leave()
		t.bind(ctx)
		f()
	}
	defer context.AfterFunc(ctx, func() { t.cancel(reason) })()
	p.accept(t)
	t.turn.leave()
	for t.await() {
	}
}

// await is for the client's goroutine: it takes the end of one round, and
// reports whether there is another. Until then it writes what is to be told.
func (t *toolCall) await() bool {
	completed := t.completions()
	if completed == nil {
		return false
	}
	var wake <-chan struct{}
	if t.notes != nil {
		wake = t.notes.wake
	}
	for {
		select {
		case <-wake:
			t.notes.writeTo(t.stream)
		case c, open := <-completed:
			if t.notes != nil {
				t.notes.writeTo(t.stream) // what came before the reply
			}
			if !open {
				return false
			}
			t.receive(c)
			return t.goesOnAfter(c)
		}
	}
}

// tell passes a notification on. It is called on the reader of an upstream.
func (t *toolCall) tell(note []byte) {
	if t.notes == nil {
		t.stream.Send(note)
		return
	}
	t.notes.add(note)
}

// interrupted is told that the upstream has ended the stream of the call and
// will let it be taken up. A client that can do the same is let go meanwhile.
func (f *inflightCall) interrupted(retry time.Duration) {
	t := f.receiver()
	if t == nil {
		return
	}
	s, ok := t.stream.(*events.Post)
	if !ok || !s.Interrupt(retry) {
		return
	}
	f.mu.Lock()
	f.here = false
	x := f.exchange
	f.mu.Unlock()
	t.detach()
	if x != nil {
		x.Leave()
	}
}
