package conn

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"sync"
	"unicode/utf8"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/wait"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// A Dispatcher tracks a connection's open requests in both directions, and routes each message from
// the server.
type Dispatcher struct {
	Host    *Host
	Pending *Pending
	Asked   ServerRequests
	Relays  func() bool         // reports whether to forward requests from the server
	Answer  func(answer []byte) // sends the response to a request from the server
	Ending
}

func NewDispatcher(h *Host) Dispatcher {
	ctx, fail := context.WithCancelCause(context.Background())
	return Dispatcher{Host: h, Pending: NewPending(), Ending: Ending{ctx, fail}}
}

// Dispatch handles a message from a stream that carries all of the server's messages. It returns an
// error if the message is invalid. If an invalid message seems to be a response, Dispatch also
// fails the request that has the response's ID. If kept is false, data can be overwritten after
// Dispatch returns. Dispatch then copies the parts that are still needed. The fields Relays and
// Answer must be set.
func (d *Dispatcher) Dispatch(data []byte, kept bool) error {
	m, err := wire.ParseUpstream(data)
	id, answers, reply := int64(0), false, Reply{}
	switch {
	case err != nil:
		id, answers = invalidAnswerTo(data)
		reply.Err = &Lost{Sent: true, Cause: ErrMalformed}
	case m.Kind == wire.Response:
		id, answers, reply = m.Number, true, ReplyOf(m, kept)
	case m.Kind == wire.Request:
		d.flush()
		if !d.Relays() || !d.Relay(nil, m, d.Answer) {
			d.Answer(OwnAnswer(m))
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

// flush handles the earlier replies that a [Burst] has postponed, if any.
func (d *Dispatcher) flush() {
	if b := d.Host.Options.Burst; b != nil {
		b.Flush()
	}
}

// Relay forwards a request from the server and reports whether it succeeded. x is the exchange that
// the request belongs to, or nil. Relay passes the request to x.Req.Ask if possible, and to
// Options.OnRequest otherwise.
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

// Notification passes a notification to the request that it belongs to. If it does not belong to a
// request, Notification passes it to the [Host].
func (d *Dispatcher) Notification(m wire.Message) {
	switch m.Method {
	case MethodCancelled:
		d.Asked.Cancelled(m.Params)
		return
	case "notifications/progress":
		if x := d.Pending.Progressing(m.Params); x != nil && x.Notify(m.Method, m.Params) {
			return
		} // notifications with any other token go to the Host, because the token may belong to a task
	}
	d.Host.Heard(m.Method, m.Params)
}

// Cancelled records that x was canceled. If too many canceled exchanges are still waiting for a
// reply, the oldest one fails.
func (d *Dispatcher) Cancelled(x *Exchange) {
	if forgotten := d.Pending.Cancel(x); forgotten != nil {
		forgotten.Deliver(Reply{Err: &Lost{Sent: true, Cause: errForgotten}})
	}
}

// Restart ends the connection, with err as the reason, if no requests are in flight. It reports
// whether it has ended the connection.
func (d *Dispatcher) Restart(ctx context.Context, err error) bool {
	return d.Pending.Shut(ctx, func() { d.Fail(err) })
}

// Lose fails all open exchanges and ends all open requests from the server, because no more
// messages can be sent or received. The function lost returns the error for an exchange.
func (d *Dispatcher) Lose(lost func(x *Exchange) *Lost) {
	d.Asked.Close()
	for _, x := range d.Pending.Close() {
		x.Deliver(Reply{Err: lost(x)})
	}
}

// An Ending records whether a connection has ended, and why. The reason is the first error passed
// to Fail. An Ending is safe for concurrent use.
type Ending struct {
	ctx  context.Context //nolint:containedctx // done when the connection is no longer used
	Fail context.CancelCauseFunc
}

// Over returns a channel that is closed when the connection has ended.
func (e *Ending) Over() <-chan struct{} { return e.ctx.Done() }

// Cause returns the error that ended the connection, or nil if the connection has not ended.
func (e *Ending) Cause() error { return context.Cause(e.ctx) }

const MethodCancelled = "notifications/cancelled"

var ErrMalformed = errors.New("the server's answer is malformed")

// AnswerTo reports whether m is the response to the request with the given ID.
func AnswerTo(m wire.Message, id int64) bool {
	return m.Kind == wire.Response && m.Number == id
}

// invalidAnswerTo reports whether an invalid message seems to be a response, and returns the ID of
// its request. That request must fail, because no other response will arrive.
func invalidAnswerTo(data []byte) (id int64, ok bool) {
	if _, isRequest := rawjson.Member(data, "method"); isRequest {
		return 0, false
	}
	literal, _ := rawjson.Member(data, "id")
	id, err := strconv.ParseInt(string(literal), 10, 64)
	return id, err == nil
}

// IsInvalidAnswer reports whether an invalid message seems to be the response to the request with
// the given ID.
func IsInvalidAnswer(data []byte, id int64) bool {
	n, ok := invalidAnswerTo(data)
	return ok && n == id
}

// ReplyOf converts a response from the server to a reply. Unless kept is true, it copies the bytes.
// The bytes must be valid UTF-8, because they are forwarded unchanged.
func ReplyOf(m wire.Message, kept bool) Reply {
	if !utf8.Valid(m.Result) || !utf8.Valid(m.Error) {
		return Reply{Err: &Lost{Sent: true, Cause: ErrMalformed}}
	}
	if kept {
		return Reply{Result: m.Result, Error: m.Error}
	}
	return Reply{Result: bytes.Clone(m.Result), Error: bytes.Clone(m.Error)}
}

// OwnAnswer returns the proxy's own response to a server's request: a result for ping, and "method
// not found" for any other method.
func OwnAnswer(m wire.Message) []byte {
	if m.Method == "ping" {
		return wire.AppendResult(nil, m.ID, []byte(`{}`))
	}
	return wire.AppendError(nil, m.ID, wire.CodeMethodNotFound, "Method not found", nil)
}

// CancelledParams returns the params of a notifications/cancelled message.
func CancelledParams(id int64, reason string) []byte {
	params := rawjson.Object{}.Raw("requestId", strconv.AppendInt(nil, id, 10))
	if reason != "" {
		params = params.String("reason", reason)
	}
	return params.Bytes()
}

// maxCancelled is the maximum number of canceled exchanges still waiting for a reply. Most servers
// never respond to canceled requests.
const maxCancelled = 4096

var errForgotten = errors.New("it was cancelled, and too many cancelled requests are unanswered")

// Pending holds the exchanges of one connection that are waiting for a reply. It is safe for
// concurrent use.
type Pending struct {
	mu        sync.Mutex
	closed    bool
	byID      map[int64]*Exchange
	byToken   map[int64]*Exchange
	cancelled []int64       // IDs of canceled exchanges, oldest first; some may have been answered in the meantime
	dropped   chan struct{} // closed when an exchange is removed; nil if no caller is waiting for that
}

func NewPending() *Pending {
	return &Pending{byID: map[int64]*Exchange{}, byToken: map[int64]*Exchange{}}
}

// Add adds x. It returns the number of exchanges now waiting for a reply, or 0 if the connection is
// closed.
func (p *Pending) Add(x *Exchange) (waiting int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return 0
	}
	p.byID[x.ID] = x
	if x.Req.Token != 0 {
		p.byToken[x.Req.Token] = x
	}
	return len(p.byID)
}

// Take removes and returns the pending exchange with the given ID, or returns nil.
func (p *Pending) Take(id int64) *Exchange {
	p.mu.Lock()
	defer p.mu.Unlock()
	x := p.byID[id]
	if x != nil {
		p.drop(x)
	}
	return x
}

func (p *Pending) drop(x *Exchange) {
	if p.dropped != nil {
		close(p.dropped)
		p.dropped = nil
	}
	delete(p.byID, x.ID)
	if x.Req.Token != 0 {
		delete(p.byToken, x.Req.Token)
	}
}

// Shut waits until no requests are open. It then calls f, rejects all later requests, and returns
// true. It returns false if ctx is done first, or if a request that may take a long time, such as
// tools/call, is open. Subscriptions do not count as open requests.
func (p *Pending) Shut(ctx context.Context, f func()) bool {
	for {
		p.mu.Lock()
		soon, work := p.waiting()
		if !soon && !work {
			p.closed = true
			f()
		}
		if soon && p.dropped == nil {
			p.dropped = make(chan struct{})
		}
		dropped := p.dropped
		p.mu.Unlock()
		if work || !soon {
			return !work
		}
		if !wait.For(ctx, dropped) {
			return false
		}
	}
}

// waiting reports whether a short request is open, and whether a long request is open. Servers
// usually answer short requests, such as tools/list, quickly. Subscriptions do not count. The
// caller must hold mu.
func (p *Pending) waiting() (soon, work bool) {
	for _, x := range p.byID {
		switch x.Req.Method {
		case "subscriptions/listen":
		case "tools/list", "prompts/list", "resources/list", "resources/templates/list", "logging/setLevel", "resources/subscribe", "resources/unsubscribe", "ping":
			soon = true
		default:
			work = true
		}
	}
	return soon, work
}

// Progressing returns the exchange that a progress notification is about, or nil.
func (p *Pending) Progressing(params []byte) *Exchange {
	token, ok := wire.ProgressToken(params)
	if !ok {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.byToken[token]
}

// Cancel records that x was canceled. If too many canceled exchanges are waiting, it removes and
// returns the oldest.
func (p *Pending) Cancel(x *Exchange) (forgotten *Exchange) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byID[x.ID] != x {
		return nil
	}
	p.cancelled = append(p.cancelled, x.ID)
	for len(p.cancelled) > maxCancelled {
		oldest := p.byID[p.cancelled[0]]
		p.cancelled = p.cancelled[1:]
		if oldest != nil {
			p.drop(oldest)
			return oldest
		}
	}
	return nil
}

// Close rejects further exchanges and returns those that were still waiting.
func (p *Pending) Close() []*Exchange {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	left := make([]*Exchange, 0, len(p.byID))
	for _, x := range p.byID {
		left = append(left, x)
		p.drop(x)
	}
	return left
}
