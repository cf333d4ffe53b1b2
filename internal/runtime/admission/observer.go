package admission

import (
	"context"
	"time"

	"github.com/petrigate/petrigate/gate"
)

// Observer traces the phases of a call. Start is called at the beginning of a phase, and the
// returned function at its end; the returned context is passed on. An Observer must be safe for
// concurrent use and must not block.
type Observer interface {
	Start(ctx context.Context, s Phase, c Info) (context.Context, func(Result))

	// Trace returns the trace in ctx for an upstream, as W3C Trace Context; empty: no trace.
	Trace(ctx context.Context) (parent, state string)
}

// Phase is a part of the processing of a call.
type Phase string

const (
	PhaseCall    Phase = "call"    // from the request of the client to the response
	PhaseDecide  Phase = "decide"  // the nets decide
	PhaseApprove Phase = "approve" // a person is asked
	PhaseForward Phase = "forward" // the upstream processes the call
	PhaseSettle  Phase = "settle"  // the outcome is recorded, and the nets move
)

// Result is the result of a phase.
type Result struct {
	Decision string       // of PhaseDecide: allow, refuse or ask
	Kind     string       // kind of a refusal
	Rules    []string     // rules that refused the call
	Outcome  gate.Outcome // of PhaseSettle
	Failed   bool         // the upstream answered that the tool failed
	Code     int          // code of the JSON-RPC error from the upstream or to the client; 0: none
	Err      error
}

// Meter counts calls. Its methods run on the goroutine of the call; they must be safe for
// concurrent use and must not block.
type Meter interface {
	// Decided counts a decision of the nets and its duration.
	Decided(c *Call, d Decision, took time.Duration)

	// Refused counts a refusal for any reason.
	Refused(r *Refused)

	// Forwarding counts a call that is sent to its upstream. Forwarded follows exactly once.
	Forwarding(upstream string)

	// Forwarded counts a call that its upstream has answered or will not answer.
	Forwarded(upstream, tool, method string, took time.Duration, err error)

	// Settled counts an outcome, with the total duration of the call.
	Settled(upstream string, o gate.Outcome, took time.Duration)
}

// Watch passes the phases of calls to the observer and the meter of an admission.
type Watch struct {
	observer Observer // nil: none
	meter    Meter    // nil: none
}

// Observed reports whether there is an observer.
func (w *Watch) Observed() bool { return w.observer != nil }

// Receiving starts the phase of a received call. The caller must call the returned function when
// the call is answered. There must be an observer.
func (w *Watch) Receiving(ctx context.Context, i Info) (context.Context, func(Result)) {
	return w.observer.Start(ctx, PhaseCall, i)
}

// Approving starts the phase of an approval of c. The caller must call the returned function when
// the person has answered or will not answer. There must be an observer.
func (w *Watch) Approving(ctx context.Context, c *Call) func(Result) {
	_, end := w.observer.Start(ctx, PhaseApprove, c.info())
	return end
}

// Forwarding starts the phase of an admitted call at its upstream, and counts the call. The caller
// must call end when the upstream has answered or will not answer. The function trace returns the
// trace for the upstream. Both are nil without an observer.
func (w *Watch) Forwarding(t *Ticket) (trace func() (parent, state string), end func(Result)) {
	if w.meter != nil {
		w.meter.Forwarding(t.upstream)
	}
	if w.observer == nil || t.observed == nil {
		return nil, nil
	}
	ctx, end := w.observer.Start(t.observed.ctx, PhaseForward, t.observed.info)
	return func() (string, string) { return w.observer.Trace(ctx) }, end
}

// Forwarded counts a call after Forwarding that its upstream has answered or will not answer.
func (w *Watch) Forwarded(upstream, tool, method string, took time.Duration, err error) {
	if w.meter != nil {
		w.meter.Forwarded(upstream, tool, method, took, err)
	}
}

// A deciding is the phase of a decision for the observer and the meter.
type deciding struct {
	trace context.Context //nolint:containedctx // of the call
	ctx   context.Context //nolint:containedctx // of the phase
	begun time.Time       // zero without a meter
	end   func(Result)    // nil: no observer
}

// deciding starts the phase of a decision on c.
func (w *Watch) deciding(ctx context.Context, c *Call) deciding {
	d := deciding{trace: ctx, ctx: ctx}
	if w.meter != nil {
		d.begun = time.Now()
	}
	if w.observer != nil {
		d.ctx, d.end = w.observer.Start(ctx, PhaseDecide, c.info())
	}
	return d
}

// decided ends the phase of a decision, and stores the trace in the ticket for the later phases.
func (w *Watch) decided(c *Call, d Decision, p *deciding) {
	if w.meter != nil {
		w.meter.Decided(c, d, time.Since(p.begun))
	}
	if p.end == nil {
		return
	}
	if d, ok := d.(*Admitted); ok {
		d.Ticket.observed = &observed{context.WithoutCancel(p.trace), c.info()}
	}
	p.end(result(d))
}

// result returns the result of the phase of a decision.
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

// rules returns the rules of a refusal.
func (f *Facts) rules() []string {
	var all []string
	for _, b := range f.Nets {
		if b.Rule != "" {
			all = append(all, b.Rule)
		}
	}
	return all
}
