package conn

import (
	"bytes"
	"context"

	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// A Dispatcher knows what is under way on one connection, in both directions, and hands
// each message of the server to whom it is for.
type Dispatcher struct {
	Host    *Host
	Pending *Pending
	Asked   ServerRequests
	Relays  func() bool         // reports whether requests of the server are handed on
	Answer  func(answer []byte) // sends our answer to such a request
	Ending
}

func NewDispatcher(h *Host) Dispatcher {
	return Dispatcher{Host: h, Pending: NewPending(), Ending: NewEnding()}
}

// Dispatch handles a message on a stream that carries all that the server says. If kept,
// the bytes are ours. The error says that data is no message; where it seems to be the
// answer to a request, nobody needs to wait for another. It needs Relays and Answer.
func (d *Dispatcher) Dispatch(data []byte, kept bool) error {
	m, err := wire.ParseUpstream(data)
	switch {
	case err != nil:
		if id, ok := spoiltAnswer(data); ok {
			d.reply(id, Reply{Err: &Lost{Sent: true, Cause: ErrMalformed}})
		}
	case m.Kind == wire.Response:
		id, _ := m.Int()
		d.reply(id, ReplyOf(m, kept))
	case m.Kind == wire.Request:
		d.flush()
		if !d.Relays() || !d.Relay(nil, m, d.Answer) {
			d.Answer(AppendAnswer(nil, m))
		}
	default:
		d.flush()
		if !kept {
			m.Params = bytes.Clone(m.Params)
		}
		d.Notification(m)
	}
	return err
}

// flush has what came of the replies before done first.
func (d *Dispatcher) flush() {
	if b := d.Host.Options.Burst; b != nil {
		b.Flush()
	}
}

func (d *Dispatcher) reply(id int64, r Reply) {
	if x := d.Pending.Take(id); x != nil {
		x.Deliver(r)
	} else {
		d.Host.Log.Debug("answer to no request dropped", "id", id)
	}
}

// Relay hands a request of the server on, to the exchange that it belongs to or else to
// the user of the upstream; x is nil where it belongs to none. It reports false where
// nobody takes the request.
func (d *Dispatcher) Relay(x *Exchange, m wire.Message, send func(answer []byte)) bool {
	switch m.Method {
	case "sampling/createMessage", "elicitation/create", "roots/list":
	default:
		return false
	}
	ask := d.Host.Options.OnRequest
	if x != nil && !x.Answered.Load() && x.Req.Ask != nil {
		ask = x.Req.Ask
	}
	if ask == nil {
		return false
	}
	q := d.Asked.take(m, send)
	if q == nil {
		return false
	}
	ask(q)
	return true
}

// Notification hands a notification to the request that it belongs to, or on.
func (d *Dispatcher) Notification(m wire.Message) {
	switch m.Method {
	case MethodCancelled:
		d.Asked.Cancelled(m.Params)
		return
	case "notifications/progress":
		if x := d.Pending.Progressing(m.Params); x != nil && x.Notify(m.Method, m.Params) {
			return
		} // else it may be that of a task
	}
	d.Host.Heard(m.Method, m.Params)
}

// Cancelled notes that x was cancelled. Too many such do not wait for their answers.
func (d *Dispatcher) Cancelled(x *Exchange) {
	if forgotten := d.Pending.Cancel(x); forgotten != nil {
		forgotten.Deliver(Reply{Err: &Lost{Sent: true, Cause: ErrForgotten}})
	}
}

// Restart ends the connection for err, if that harms nothing that is under way. It reports
// whether it did.
func (d *Dispatcher) Restart(ctx context.Context, err error) bool {
	return d.Pending.Shut(ctx, func() { d.Fail(err) })
}

// Lose ends all that is under way: nobody can be answered any more.
func (d *Dispatcher) Lose(lost func(x *Exchange) *Lost) {
	d.Asked.Close()
	for _, x := range d.Pending.Close() {
		x.Deliver(Reply{Err: lost(x)})
	}
}

// An Ending is how a connection becomes useless: once, for the first reason that Fail
// gets. Its methods can be called from any goroutine.
type Ending struct {
	ctx  context.Context //nolint:containedctx // ends with the use of the connection
	Fail context.CancelCauseFunc
}

func NewEnding() (e Ending) {
	e.ctx, e.Fail = context.WithCancelCause(context.Background())
	return e
}

// Over is closed when the connection is of no use any more.
func (e *Ending) Over() <-chan struct{} { return e.ctx.Done() }

// Cause is why it is of no use; nil while it is.
func (e *Ending) Cause() error { return context.Cause(e.ctx) }
