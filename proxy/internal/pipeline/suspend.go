package pipeline

import (
	"errors"
	"fmt"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/proxy/internal/lifetime"
	"github.com/petrigate/petrigate/proxy/internal/rounds"
	"github.com/petrigate/petrigate/proxy/internal/seal"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// suspend forwards an InputRequiredResult to a client that uses revision 2026-07-28, and keeps the
// call until a later round brings the responses. If the call cannot be kept, suspend returns the
// reason; otherwise, it returns "".
func (f *inflightCall) suspend(c *Call, result []byte) (why string) {
	p := f.Call.pipeline
	x := &suspendedCall{id: lifetime.RandomID(""), ticket: f.ticket, call: f.Call, approved: f.Call.approved}
	r := seal.Round{Number: c.input.round + 1, Pause: x.id, Expires: p.Life.Now().Add(p.Approval.Expire)}
	switch err := p.storeSuspended(c, x, r.Expires); {
	case errors.Is(err, rounds.ErrFull):
		return "Too many calls are waiting for input."
	case err != nil:
		p.Life.Log.Error("cannot store a call until its input arrives", "tool", c.Tool.Canonical, "call", f.ticket.Number, "error", err)
		return fmt.Sprintf("The upstream %s asked for input, but petrigate cannot store the call until it arrives.", c.Tool.Upstream.Config.Name)
	}
	if c.approved != nil {
		r.Beside = c.approved.Beside
	}
	if lit, ok := rawjson.Member(result, "requestState"); ok {
		state, _ := rawjson.String(lit)
		r.State = &state
	}
	c.replyRaw(wire.ResultHead(c.ID), withState(c.Tool.Upstream.WithServerNames(result), p.Sealer.Seal(r, c.subject())))
	return ""
}

// storeSuspended stores the suspended call x. c is the call's latest round, which led to the
// suspension. If too many calls are suspended, storeSuspended returns [rounds.ErrFull].
func (p *Pipeline) storeSuspended(c *Call, x *suspendedCall, expires time.Time) error {
	several := p.Sessions.SeveralPrincipals.Load()
	switch {
	case p.Rounds != nil:
		return p.Rounds.Keep(x.id, c.subject(), several, rounds.Round{Ticket: x.ticket, Approved: x.approved, Expires: expires})
	case p.suspended.add(x, several, p.Approval.Expire, p.notResumed):
		return nil
	}
	return rounds.ErrFull
}

// pickUp ends the suspension of the call that c continues. It returns the suspended call, or nil if
// the suspension has already ended. If several processes know the call, only one of them can pick
// it up. If pickUp returns an error, for example while calls are stopped, the call stays suspended.
func (p *Pipeline) pickUp(c *Call) (*suspendedCall, error) {
	if p.Admission.Stopped(c.State.ID) != nil {
		return nil, admission.ErrStopped
	}
	x := p.suspended.take(c.input.suspended)
	if x != nil || p.Rounds == nil {
		return x, nil
	}
	r, err := p.Rounds.Take(c.State.Key(), c.input.suspended, c.subject())
	if r == nil {
		return nil, err
	}
	return &suspendedCall{ticket: r.Ticket, approved: r.Approved}, nil
}

// notResumed settles a call after its client did not return. As far as the server (2026-07-28) is
// concerned, the call has ended with the InputRequiredResult.
func (p *Pipeline) notResumed(x *suspendedCall) {
	p.Life.Log.Info("the client did not provide the requested input", "tool", x.call.Tool.Canonical, "call", x.ticket.Number)
	p.settle(x.call.State, x.ticket, gate.End{Outcome: gate.Failure}, "no input")
	p.abandon(x.ticket)
}

// withState returns an InputRequiredResult with the proxy's requestState in place of the server's.
func withState(result []byte, state string) []byte {
	return wire.SetMember(result, "requestState", rawjson.AppendString(nil, state))
}
