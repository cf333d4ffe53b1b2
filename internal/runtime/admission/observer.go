package admission

import (
	"context"
	"time"

	"github.com/petrigate/petrigate/gate"
)

// An Observer is told of the stations of a call. Start is called as the call
// comes to the station, and what it returns as the call leaves it; the context is
// handed on. It must be safe for concurrent use and must not block.
type Observer interface {
	Start(ctx context.Context, s Station, c Info) (context.Context, func(Result))

	// Trace is what an upstream is told of the trace that ctx carries, as W3C Trace
	// Context; empty: nothing.
	Trace(ctx context.Context) (parent, state string)
}

// A Station is a part of the way of a call.
type Station string

const (
	StationCall    Station = "call"    // the whole way, from the request of the client to the answer
	StationDecide  Station = "decide"  // the nets are asked
	StationApprove Station = "approve" // a person is asked
	StationForward Station = "forward" // the upstream works on it
	StationSettle  Station = "settle"  // its outcome goes on record, and the nets move
)

// Info says which call is at a station.
type Info struct {
	Key
	Upstream, Tool, Client string

	Method    string // tools/call, prompts/get or resources/read
	ID        []byte // of the request, as the client wrote it
	Protocol  string // revision that the client speaks
	Transport string // of the client: stdio or http

	// The trace that the client says the call is a part of; of StationCall.
	TraceParent, TraceState string
}

// A Result says how a call left a station.
type Result struct {
	Decision string       // of StationDecide: allow, refuse or ask
	Kind     string       // of a refusal
	Rules    []string     // behind a refusal
	Outcome  gate.Outcome // of StationSettle
	Failed   bool         // the upstream answered, and says that the tool failed
	Code     int          // of the JSON-RPC error that the client gets, or the upstream sent; 0: none
	Err      error
}

// A Meter counts calls. It is told of every call, on the goroutine of the call, must be
// safe for concurrent use, and must not block.
type Meter interface {
	// Decided counts a decision of the nets, and what it took.
	Decided(c *Call, d Decision, took time.Duration)

	// Refused counts a refusal of any cause.
	Refused(r *Refused)

	// Forwarding counts a call that goes to its upstream. Forwarded follows, once.
	Forwarding(upstream string)

	// Forwarded counts a call that its upstream has answered, or will not.
	Forwarded(upstream, tool, method string, took time.Duration, err error)

	// Settled counts an outcome, and how long the call took in all.
	Settled(upstream string, o gate.Outcome, took time.Duration)
}

// A Watch is who is told of the calls of an admission.
type Watch struct {
	observer Observer // nil: nobody
	meter    Meter    // nil: nobody
}

// Watch is who is told of calls.
func (a *Admission) Watch() *Watch { return &a.watch }

// Observed reports whether an observer is told of calls.
func (w *Watch) Observed() bool { return w.observer != nil }

// Receiving tells the observer that a call has come. The caller calls the function when
// it is answered. It requires that there is an observer.
func (w *Watch) Receiving(ctx context.Context, i Info) (context.Context, func(Result)) {
	return w.observer.Start(ctx, StationCall, i)
}

// Approving tells the observer that a person is asked about c. The caller calls
// the function when the person has answered, or nobody will.
func (w *Watch) Approving(ctx context.Context, c *Call) (context.Context, func(Result)) {
	if w.observer == nil {
		return ctx, unobserved
	}
	return w.observer.Start(ctx, StationApprove, c.info())
}

// Forwarding tells the observer, and counts, that an admitted call goes to its upstream. The
// caller calls the function when the upstream has answered, or will not. trace is what
// the upstream is told of the trace; nil: nothing.
func (w *Watch) Forwarding(t *Ticket) (trace func() (parent, state string), end func(Result)) {
	if w.meter != nil {
		w.meter.Forwarding(t.upstream)
	}
	if w.observer == nil || t.observed == nil {
		return nil, unobserved
	}
	ctx, end := w.observer.Start(t.observed.ctx, StationForward, t.observed.info)
	return func() (string, string) { return w.observer.Trace(ctx) }, end
}

// Forwarded counts a call whose upstream has answered, or will not, after Forwarding.
func (w *Watch) Forwarded(upstream, tool, method string, took time.Duration, err error) {
	if w.meter != nil {
		w.meter.Forwarded(upstream, tool, method, took, err)
	}
}

// observed is what the observer of a ticket is told of it.
type observed struct {
	ctx  context.Context //nolint:containedctx // it carries the trace, and nothing that ends
	info Info
}

// deciding tells the observer and the meter of a decision.
func (w *Watch) deciding(ctx context.Context, c *Call) (context.Context, func(Result)) {
	if w.observer == nil {
		return ctx, unobserved
	}
	return w.observer.Start(ctx, StationDecide, c.info())
}

// observe ends the station of a decision, and lets the ticket know the trace that its
// other stations are a part of.
func (w *Watch) observe(trace context.Context, c *Call, d Decision, end func(Result)) {
	if w.observer == nil {
		return
	}
	if d, ok := d.(*Admitted); ok {
		d.Ticket.observed = &observed{context.WithoutCancel(trace), c.info()}
	}
	end(result(d))
}

// settling tells the observer that the outcome of t goes on record.
func (w *Watch) settling(ctx context.Context, t *Ticket) (context.Context, func(Result)) {
	if w.observer == nil || t.observed == nil {
		return ctx, unobserved
	}
	return w.observer.Start(t.observed.ctx, StationSettle, t.observed.info)
}

// begun is when a decision begins, for the meter.
func (w *Watch) begun() (t time.Time) {
	if w.meter != nil {
		t = time.Now()
	}
	return t
}

// decided counts a decision that began then.
func (w *Watch) decided(c *Call, d Decision, begun time.Time) {
	if w.meter != nil {
		w.meter.Decided(c, d, time.Since(begun))
	}
}

func (c *Call) info() Info {
	return Info{Key: c.Key, Upstream: c.Upstream, Tool: c.Tool, Client: c.Client, Method: c.Method, ID: c.ID}
}

func unobserved(Result) {}

// result is how a decision leaves its station.
func result(d Decision) Result {
	switch d := d.(type) {
	case *Admitted:
		return Result{Decision: "allow"}
	case *Refused:
		return Result{Decision: "refuse", Kind: d.Facts.Kind, Rules: d.Facts.rules(), Err: d.Err}
	default:
		return Result{Decision: "ask"}
	}
}

// rules are the rules behind a refusal.
func (f *Facts) rules() []string {
	var all []string
	for _, b := range f.Nets {
		if b.Rule != "" {
			all = append(all, b.Rule)
		}
	}
	return all
}
