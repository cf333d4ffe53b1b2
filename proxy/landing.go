package proxy

import (
	"context"
	"time"

	"github.com/petrigate/petrigate/proxy/internal/events"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// A landing is how a round of a call ends for its client.
type landing struct {
	flight  *flight
	reply   upstream.Reply
	settled bool   // the nets know
	round   []byte // in place of the reply: what the upstream asks
}

// land hands l to the goroutine of the client, if one waits.
func (t *toolCall) land(l landing) {
	t.mu.Lock()
	waits := t.landed != nil
	if waits {
		t.landed <- l // has room: one round of a call is under way at a time
	}
	t.mu.Unlock()
	if !waits {
		t.receive(l)
	}
}

func (t *toolCall) receive(l landing) {
	switch {
	case l.round != nil:
		t.pass(wire.ResultHead(t.id), l.round)
	case l.settled && l.flight.handle != nil:
		l.flight.answerTask(t)
	case l.settled:
		t.deliver(l.reply, wire.ResultFacts(l.reply.Result))
	default:
		l.flight.finish(t, l.reply)
	}
}

// serveCall serves a call on the goroutine of its client, and returns when it
// is answered. The end of ctx cancels the call, for that reason.
func (p *Proxy) serveCall(ctx context.Context, t *toolCall, reason error) {
	t.landed = make(chan landing, 2)
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
	t.mu.Lock()
	landed := t.landed
	idle := landed == nil || t.flight == nil && len(landed) == 0
	t.mu.Unlock()
	if idle {
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
		case l, open := <-landed:
			if t.notes != nil {
				t.notes.writeTo(t.stream) // what came before the reply
			}
			if !open {
				return false
			}
			t.receive(l)
			return t.goesOnAfter(l)
		}
	}
}

func (t *toolCall) goesOnAfter(l landing) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.ended && t.flight != nil && t.flight != l.flight
}

// tell passes a notification on. It is called on the reader of an upstream.
func (t *toolCall) tell(note []byte) {
	if t.notes == nil {
		t.stream.Send(note)
		return
	}
	t.notes.add(note)
}

// interrupted is told that the upstream has ended the stream of the flight and
// will let it be taken up. A client that can do the same is let go meanwhile.
func (f *flight) interrupted(retry time.Duration) {
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
	t.letGo()
	if x != nil {
		x.Leave()
	}
}

// letGo lets the goroutine of the client wait for nothing any more.
func (t *toolCall) letGo() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.landed != nil {
		close(t.landed)
		t.landed = nil
	}
}
