package admission

import (
	"context"
	"time"

	"github.com/petrigate/petrigate/gate"
)

// Observer traces the phases of a call. Start is called when a phase begins. The context it returns
// is used during the phase, and the function it returns is called when the phase ends. An Observer
// must be safe for concurrent use and must not block.
type Observer interface {
	Start(ctx context.Context, s Phase, c Info) (context.Context, func(Result))

	// Trace returns the trace in ctx as W3C traceparent and tracestate header values, to be sent to
	// an upstream. Both are empty if ctx has no trace.
	Trace(ctx context.Context) (parent, state string)
}

// Phase is a step in the processing of a call.
type Phase string

const (
	PhaseCall    Phase = "call"    // from receiving the client's request to answering it
	PhaseDecide  Phase = "decide"  // evaluating the nets
	PhaseApprove Phase = "approve" // asking a person
	PhaseForward Phase = "forward" // sending the call to the upstream and waiting for the response
	PhaseSettle  Phase = "settle"  // recording the outcome and updating the nets' markings
)

// Result describes how a phase ended.
type Result struct {
	Decision string       // allow, refuse or ask; set only for PhaseDecide
	Kind     string       // kind of the refusal
	Rules    []string     // positions of the rules that refused the call
	Outcome  gate.Outcome // outcome of the call; set only for PhaseSettle
	Failed   bool         // whether the upstream reported that the tool failed
	Code     int          // JSON-RPC error code received from the upstream or sent to the client; 0 means no error
	Err      error
}

// Meter counts calls. Its methods are called on the goroutine that processes the call. They must be
// safe for concurrent use and must not block.
type Meter interface {
	// Decided counts a decision that the nets have made on a call. The argument elapsed is the
	// duration of the decision.
	Decided(c *Call, d Decision, elapsed time.Duration)

	// Refused counts a refusal of any kind.
	Refused(r *Refused)

	// Forwarding counts a call that is about to be sent to its upstream. The caller must later call
	// Forwarded exactly once.
	Forwarding(upstream string)

	// Forwarded counts a call whose upstream has answered or will never answer. It is called after
	// Forwarding.
	Forwarded(upstream, tool, method string, elapsed time.Duration, err error)

	// Settled counts a call that has ended with the outcome o. The argument elapsed is the total
	// duration of the call.
	Settled(upstream string, o gate.Outcome, elapsed time.Duration)
}

// A Watch reports calls to an observer and a meter. Both are optional.
type Watch struct {
	observer Observer
	meter    Meter
}

// Observed reports whether there is an observer.
func (w *Watch) Observed() bool { return w.observer != nil }

// StartCall starts [PhaseCall] for a received call. The caller must call the returned function when
// the call has been answered. The observer must not be nil.
func (w *Watch) StartCall(ctx context.Context, i Info) (context.Context, func(Result)) {
	return w.observer.Start(ctx, PhaseCall, i)
}

// StartApproval starts [PhaseApprove] for c. The caller must call the returned function when the
// person has answered or can no longer answer. The observer must not be nil.
func (w *Watch) StartApproval(ctx context.Context, c *Call) func(Result) {
	_, end := w.observer.Start(ctx, PhaseApprove, c.info())
	return end
}

// StartForward starts [PhaseForward] for an admitted call and counts the call. The first function
// returns the trace to send to the upstream. The caller must call the second function when the
// upstream has answered or will never answer. Without an observer, both functions are nil.
func (w *Watch) StartForward(t *Ticket) (trace func() (parent, state string), end func(Result)) {
	if w.meter != nil {
		w.meter.Forwarding(t.Upstream)
	}
	if w.observer == nil || t.observed == nil {
		return nil, nil
	}
	ctx, end := w.observer.Start(t.observed.ctx, PhaseForward, t.observed.info)
	return func() (string, string) { return w.observer.Trace(ctx) }, end
}

// Forwarded counts a call that has been sent to its upstream. It must be called after StartForward,
// when the upstream has answered or will never answer.
func (w *Watch) Forwarded(upstream, tool, method string, elapsed time.Duration, err error) {
	if w.meter != nil {
		w.meter.Forwarded(upstream, tool, method, elapsed, err)
	}
}

// A decisionPhase times and traces the decision on one call.
type decisionPhase struct {
	trace context.Context //nolint:containedctx // context of the call
	ctx   context.Context //nolint:containedctx // context of the phase
	begun time.Time       // start time of the phase; zero if the Watch has no meter
	end   func(Result)    // ends the phase; nil if the Watch has no observer
}

// startDecision starts timing and tracing the decision on c. The phase ends when the caller calls
// endDecision.
func (w *Watch) startDecision(ctx context.Context, c *Call) decisionPhase {
	d := decisionPhase{trace: ctx, ctx: ctx}
	if w.meter != nil {
		d.begun = time.Now()
	}
	if w.observer != nil {
		d.ctx, d.end = w.observer.Start(ctx, PhaseDecide, c.info())
	}
	return d
}

// endDecision ends the decision phase of c. If c was admitted, endDecision stores the trace in the
// call's ticket for the later phases.
func (w *Watch) endDecision(c *Call, d Decision, p *decisionPhase) {
	if w.meter != nil {
		w.meter.Decided(c, d, time.Since(p.begun))
	}
	if p.end == nil {
		return
	}
	if d, ok := d.(*Admitted); ok {
		d.Ticket.observed = &observation{context.WithoutCancel(p.trace), c.info()}
	}
	p.end(result(d))
}

// result returns the [Result] of a decision phase that ended with the decision d.
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

// rules returns the positions of the rules that caused the refusal.
func (f *Facts) rules() []string {
	var all []string
	for _, b := range f.Nets {
		if b.Rule != "" {
			all = append(all, b.Rule)
		}
	}
	return all
}
