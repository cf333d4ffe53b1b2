package pipeline

import (
	"context"
	"time"

	"github.com/petrigate/petrigate/proxy/internal/events"
	"github.com/petrigate/petrigate/proxy/internal/session"
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
func (t *Call) complete(c completion) {
	if !t.hand(c) {
		t.receive(c)
	}
}

func (t *Call) receive(c completion) {
	switch {
	case c.round != nil:
		t.pass(wire.ResultHead(t.ID), c.round)
	case c.settled && c.inflight.handle != nil:
		c.inflight.answerTask(t)
	case c.settled:
		t.deliver(c.reply, wire.ResultFacts(c.reply.Result))
	default:
		c.inflight.finish(t, c.reply)
	}
}

// ServeCall serves a call on the goroutine of its client, and returns when it
// is answered. The end of ctx cancels the call, for that reason.
func (p *Pipeline) ServeCall(ctx context.Context, t *Call, reason error) {
	t.waitHere()
	if t.Tool == nil || t.Tool.Upstream.OneReader() {
		t.notes = session.NewOutbox()
	}
	t.Aside = func(f func()) {
		t.Turn.Leave()
		t.Bind(ctx)
		f()
	}
	defer context.AfterFunc(ctx, func() { t.Cancel(reason) })()
	p.Accept(t)
	t.Turn.Leave()
	for t.await() {
	}
}

// await is for the client's goroutine: it takes the end of one round, and
// reports whether there is another. Until then it writes what is to be told.
func (t *Call) await() bool {
	completed := t.completions()
	if completed == nil {
		return false
	}
	var wake <-chan struct{}
	if t.notes != nil {
		wake = t.notes.Wake
	}
	for {
		select {
		case <-wake:
			t.notes.WriteTo(t.Stream)
		case c, open := <-completed:
			if t.notes != nil {
				t.notes.WriteTo(t.Stream) // what came before the reply
			}
			if !open {
				return false
			}
			t.receive(c)
			return t.goesOnAfter(c)
		}
	}
}

// Tell passes a notification on. It is called on the reader of an upstream.
func (t *Call) Tell(note []byte) {
	if t.notes == nil {
		t.Stream.Send(note)
		return
	}
	t.notes.Add(note)
}

// interrupted is told that the upstream has ended the stream of the call and
// will let it be taken up. A client that can do the same is let go meanwhile.
func (f *inflightCall) interrupted(retry time.Duration) {
	t := f.Receiver()
	if t == nil {
		return
	}
	s, ok := t.Stream.(*events.Post)
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
