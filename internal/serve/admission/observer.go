package admission

import (
	"context"

	"github.com/petrigate/petrigate/gate"
)

// An Observer is told of the stations of a call. Start is called as the call
// comes to the station, and what it returns as the call leaves it; the context is
// handed on. It must be safe for concurrent use and must not block.
type Observer interface {
	Start(ctx context.Context, s Station, c Info) (context.Context, func(Result))
}

// A Station is a part of the way of a call.
type Station string

const (
	StationDecide  Station = "decide"  // the nets are asked
	StationApprove Station = "approve" // a person is asked
	StationForward Station = "forward" // the upstream works on it
	StationSettle  Station = "settle"  // its outcome goes on record, and the nets move
)

// Info says which call is at a station.
type Info struct {
	Key
	Upstream, Tool, Client string
}

// A Result says how a call left a station.
type Result struct {
	Decision string       // of StationDecide: allow, refuse or ask
	Kind     string       // of a refusal
	Outcome  gate.Outcome // of StationSettle
	Err      error
}

// Approving tells the observer that a person is asked about c. The caller calls
// the function when the person has answered, or nobody will.
func (a *Admission) Approving(ctx context.Context, c *Call) (context.Context, func(Result)) {
	return a.start(ctx, StationApprove, c.info())
}

// Forwarding tells the observer that an admitted call goes to its upstream. The
// caller calls the function when the upstream has answered, or will not.
func (a *Admission) Forwarding(ctx context.Context, t *Ticket) (context.Context, func(Result)) {
	return a.start(ctx, StationForward, t.info)
}

func (a *Admission) deciding(ctx context.Context, c *Call) (context.Context, func(Result)) {
	if a.observer == nil {
		return ctx, unobserved
	}
	return a.start(ctx, StationDecide, c.info())
}

func (a *Admission) start(ctx context.Context, s Station, c *Info) (context.Context, func(Result)) {
	if a.observer == nil {
		return ctx, unobserved
	}
	return a.observer.Start(ctx, s, *c)
}

func (c *Call) info() *Info {
	return &Info{Key: c.Key, Upstream: c.Upstream, Tool: c.Tool, Client: c.Client}
}

func unobserved(Result) {}

// result is how a decision leaves its station.
func result(d Decision) Result {
	switch d := d.(type) {
	case *Admitted:
		return Result{Decision: "allow"}
	case *Refused:
		return Result{Decision: "refuse", Kind: d.Facts.Kind, Err: d.Err}
	default:
		return Result{Decision: "ask"}
	}
}
