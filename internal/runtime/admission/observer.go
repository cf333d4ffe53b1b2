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

	// Trace returns ctx's trace for an upstream, in the form of W3C Trace Context. The strings are
	// empty if ctx has no trace.
	Trace(ctx context.Context) (parent, state string)
}

// Phase is a phase of a call's processing.
type Phase string

const (
	PhaseCall    Phase = "call"    // from the client's request to the response
	PhaseDecide  Phase = "decide"  // the nets decide
	PhaseApprove Phase = "approve" // a person is asked
	PhaseForward Phase = "forward" // the upstream processes the call
	PhaseSettle  Phase = "settle"  // the outcome is recorded, and the nets' markings change
)

// Result is a phase's result.
type Result struct {
	Decision string       // allow, refuse or ask; set only for PhaseDecide
	Kind     string       // kind of refusal
	Rules    []string     // rules that refused the call
	Outcome  gate.Outcome // outcome of the call; set only for PhaseSettle
	Failed   bool         // the upstream reported that the tool failed
	Code     int          // JSON-RPC error code that the upstream returned or the client received; 0: none
	Err      error
}

// Meter counts calls. Its methods run on the call's goroutine. They must be safe for concurrent use
// and must not block.
type Meter interface {
	// Decided counts a decision by the nets and its duration.
	Decided(c *Call, d Decision, took time.Duration)

	// Refused counts a refusal for any reason.
	Refused(r *Refused)

	// Forwarding counts a call that is being sent to its upstream. The caller must then call
	// Forwarded exactly once.
	Forwarding(upstream string)

	// Forwarded counts a call that its upstream has answered or will never answer.
	Forwarded(upstream, tool, method string, took time.Duration, err error)

	// Settled counts an outcome and the call's total duration.
	Settled(upstream string, o gate.Outcome, took time.Duration)
}

// Watch reports the phases of calls to an admission's observer and meter.
type Watch struct {
	observer Observer // nil: none
	meter    Meter    // nil: none
}

// Observed reports whether there is an observer.
func (w *Watch) Observed() bool { return w.observer != nil }

// Receiving starts [PhaseCall] for a received call. There must be an observer. The caller must call
// the returned function when the call is answered.
func (w *Watch) Receiving(ctx context.Context, i Info) (context.Context, func(Result)) {
	return w.observer.Start(ctx, PhaseCall, i)
}

// Approving starts the approval phase of c. There must be an observer. The caller must call the
// returned function when the person has answered or can no longer answer.
func (w *Watch) Approving(ctx context.Context, c *Call) func(Result) {
	_, end := w.observer.Start(ctx, PhaseApprove, c.info())
	return end
}

// Forwarding starts [PhaseForward] for an admitted call, and counts the call. The caller must call
// end when the upstream has answered or can no longer answer. trace returns the trace for the
// upstream. Both functions are nil without an observer.
func (w *Watch) Forwarding(t *Ticket) (trace func() (parent, state string), end func(Result)) {
	if w.meter != nil {
		w.meter.Forwarding(t.Upstream)
	}
	if w.observer == nil || t.observed == nil {
		return nil, nil
	}
	ctx, end := w.observer.Start(t.observed.ctx, PhaseForward, t.observed.info)
	return func() (string, string) { return w.observer.Trace(ctx) }, end
}

// Forwarded counts a call that the upstream has answered or can no longer answer. It must be called
// after Forwarding.
func (w *Watch) Forwarded(upstream, tool, method string, took time.Duration, err error) {
	if w.meter != nil {
		w.meter.Forwarded(upstream, tool, method, took, err)
	}
}

// A deciding is the decision phase of one call.
type deciding struct {
	trace context.Context //nolint:containedctx // of the call
	ctx   context.Context //nolint:containedctx // of the phase
	begun time.Time       // start time; zero without a meter
	end   func(Result)    // nil: no observer
}

// deciding starts the decision phase of c.
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

// decided ends the decision phase of c, and stores the trace in the ticket for the later phases.
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

// result returns the result of a decision phase.
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

// rules returns the rules that caused the refusal.
func (f *Facts) rules() []string {
	var all []string
	for _, b := range f.Nets {
		if b.Rule != "" {
			all = append(all, b.Rule)
		}
	}
	return all
}
