package conn

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"unicode/utf8"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// A Dispatcher keeps the open requests in both directions of one connection, and routes each
// message from the server.
type Dispatcher struct {
	Host    *Host
	Pending *Pending
	Asked   ServerRequests
	Relays  func() bool         // reports whether requests from the server are forwarded
	Answer  func(answer []byte) // sends the answer to a request from the server
	Ending
}

func NewDispatcher(h *Host) Dispatcher {
	ctx, fail := context.WithCancelCause(context.Background())
	return Dispatcher{Host: h, Pending: NewPending(), Ending: Ending{ctx, fail}}
}

// Dispatch handles a message from a stream that carries all messages from the server. If kept is
// true, the caller does not reuse the bytes of the message. If the message is not valid, Dispatch
// returns an error; if the invalid message seems to answer a request, that request fails. Relays
// and Answer must be set.
func (d *Dispatcher) Dispatch(data []byte, kept bool) error {
	m, err := wire.ParseUpstream(data)
	id, answers, reply := int64(0), false, Reply{}
	switch {
	case err != nil:
		id, answers = invalidAnswerTo(data)
		reply.Err = &Lost{Sent: true, Cause: ErrMalformed}
	case m.Kind == wire.Response:
		id, answers = m.Int()
		reply = ReplyOf(m, kept)
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
	if !answers {
		return err
	}
	if x := d.Pending.Take(id); x != nil {
		x.Deliver(reply)
	} else {
		d.Host.Log.Debug("dropped an answer without a request", "id", id)
	}
	return err
}

// flush completes the work that earlier replies have caused.
func (d *Dispatcher) flush() {
	if b := d.Host.Options.Burst; b != nil {
		b.Flush()
	}
}

// Relay forwards a server's request to x, the exchange that the request belongs to. If x is nil or
// accepts no requests, Relay forwards the request to Options.OnRequest. It returns false if the
// request was not forwarded.
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

// Notification routes a notification to the request that it belongs to, or to the [Host].
func (d *Dispatcher) Notification(m wire.Message) {
	switch m.Method {
	case MethodCancelled:
		d.Asked.Cancelled(m.Params)
		return
	case "notifications/progress":
		if x := d.Pending.Progressing(m.Params); x != nil && x.Notify(m.Method, m.Params) {
			return
		} // the notification may belong to a task instead
	}
	d.Host.Heard(m.Method, m.Params)
}

// Cancelled records that x was canceled. If too many canceled exchanges have not been answered, the
// oldest one fails.
func (d *Dispatcher) Cancelled(x *Exchange) {
	if forgotten := d.Pending.Cancel(x); forgotten != nil {
		forgotten.Deliver(Reply{Err: &Lost{Sent: true, Cause: ErrForgotten}})
	}
}

// Restart ends the connection with err if no requests are in flight. It reports whether it has
// ended the connection.
func (d *Dispatcher) Restart(ctx context.Context, err error) bool {
	return d.Pending.Shut(ctx, func() { d.Fail(err) })
}

// Lose fails all open exchanges and ends all open requests from the server, because no more answers
// can be sent or received.
func (d *Dispatcher) Lose(lost func(x *Exchange) *Lost) {
	d.Asked.Close()
	for _, x := range d.Pending.Close() {
		x.Deliver(Reply{Err: lost(x)})
	}
}

// An Ending records that a connection has ended, and why: it keeps the first reason passed to Fail.
// It is safe for concurrent use.
type Ending struct {
	ctx  context.Context //nolint:containedctx // ends with the use of the connection
	Fail context.CancelCauseFunc
}

// Over returns a channel that is closed when the connection has ended.
func (e *Ending) Over() <-chan struct{} { return e.ctx.Done() }

// Cause returns why the connection has ended, or nil if it has not ended.
func (e *Ending) Cause() error { return context.Cause(e.ctx) }

const MethodCancelled = "notifications/cancelled"

var ErrMalformed = errors.New("the server's answer is malformed")

// AnswerTo reports whether m answers the request with the given ID.
func AnswerTo(m wire.Message, id int64) bool {
	n, ours := m.Int()
	return m.Kind == wire.Response && ours && n == id
}

// invalidAnswerTo returns the ID of the request that an invalid message seems to answer. No other
// answer to that request will arrive.
func invalidAnswerTo(data []byte) (id int64, ok bool) {
	if _, isRequest := rawjson.Member(data, "method"); isRequest {
		return 0, false
	}
	literal, _ := rawjson.Member(data, "id")
	id, err := strconv.ParseInt(string(literal), 10, 64)
	return id, err == nil
}

// IsInvalidAnswer reports whether an invalid message seems to answer the request with the given ID.
func IsInvalidAnswer(data []byte, id int64) bool {
	n, ok := invalidAnswerTo(data)
	return ok && n == id
}

// ReplyOf converts a response to a reply. It copies the bytes, unless kept is true. The bytes are
// forwarded unchanged, so they must be valid UTF-8.
func ReplyOf(m wire.Message, kept bool) Reply {
	if !utf8.Valid(m.Result) || !utf8.Valid(m.Error) {
		return Reply{Err: &Lost{Sent: true, Cause: ErrMalformed}}
	}
	if kept {
		return Reply{Result: m.Result, Error: m.Error}
	}
	return Reply{Result: bytes.Clone(m.Result), Error: bytes.Clone(m.Error)}
}

// AppendAnswer appends the proxy's own answer to a request from a server: a result for ping, and
// "method not found" for any other method.
func AppendAnswer(b []byte, m wire.Message) []byte {
	if m.Method == "ping" {
		return wire.AppendResult(b, m.ID, []byte(`{}`))
	}
	return wire.AppendError(b, m.ID, wire.CodeMethodNotFound, "Method not found", nil)
}

// AppendCancelled appends the params of a notifications/cancelled message.
func AppendCancelled(b []byte, id int64, reason string) []byte {
	b = append(b, `{"requestId":`...)
	b = strconv.AppendInt(b, id, 10)
	if reason != "" {
		b = rawjson.AppendString(append(b, `,"reason":`...), reason)
	}
	return append(b, '}')
}
