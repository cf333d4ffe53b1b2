package proxy

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/text"
)

// maxStopReason is the maximum length, in bytes, of the reason for a stop.
const maxStopReason = 1 << 10

// Stop refuses all new calls, or the new calls of one session. Calls in flight continue, and lists
// are still answered. It requires no PIN: like a denial, it lets no call pass.
func (p *Proxy) Stop(session, actor, reason string) (operator.Stopping, error) {
	if len(reason) > maxStopReason {
		return operator.Stopping{}, fmt.Errorf("the reason has %d bytes; the limit is %d", len(reason), maxStopReason)
	}
	return p.setStopped(true, admission.Stop{Session: session, Actor: actor, Reason: reason})
}

// StartAgain ends a stop, which applies either to one session or to all calls.
func (p *Proxy) StartAgain(session string, a operator.Actor) (operator.Stopping, error) {
	if err := p.checkOrderPIN(a, "", "let stopped calls pass again"); err != nil {
		return operator.Stopping{}, err
	}
	return p.setStopped(false, admission.Stop{Session: session, Actor: a.Name})
}

func (p *Proxy) setStopped(on bool, s admission.Stop) (operator.Stopping, error) {
	if s.Session != "" && on {
		// If the session cannot be looked up in the database, the stop applies to the given ID
		// nevertheless.
		if _, err := p.admission.Sessions.Find(p.life.Ctx, s.Session); errors.Is(err, admission.ErrNoSession) {
			return operator.Stopping{}, fmt.Errorf("there is no session %q", s.Session)
		}
	}
	done, err := p.admission.SetStopped(p.life.Ctx, on, s)
	if err != nil {
		return operator.Stopping{}, err
	}
	return operator.Stopping{Already: done.Already, Shared: p.shared(), Left: stopInfos(done.Left), Alone: unwrittenNote(on, p.shared(), done.Alone)}, nil
}

// unwrittenNote returns the explanation for an order that could not be written to the database, or
// "".
func unwrittenNote(on, shared bool, why error) string {
	switch {
	case why == nil:
		return ""
	case !shared:
		return fmt.Sprintf("it is not recorded: %v", why)
	case on:
		return fmt.Sprintf("could not write it to the database: %v. This proxy writes it when the database is back, and forgets it if the proxy ends first", why)
	}
	return fmt.Sprintf("the database did not respond: %v. If the stop is in the database too, calls stay refused until you run petrigate start again", why)
}

// stops lists the stops. If it returns an error, it lists only those that this process knows.
func (p *Proxy) stops(ctx context.Context) ([]operator.StopInfo, error) {
	stops, err := p.admission.Stops(ctx)
	return stopInfos(stops), err
}

func stopInfos(stops []admission.Stop) []operator.StopInfo {
	list := []operator.StopInfo{}
	for _, s := range stops {
		list = append(list, operator.StopInfo{Session: s.Session, Actor: text.Escape(cmp.Or(s.Actor, "nobody known")), Reason: text.Escape(s.Reason), Since: s.Time, Alone: s.Alone})
	}
	return list
}
