package proxy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/text"
)

// A StopInfo is a use of the kill switch.
type StopInfo struct {
	Session string    `json:"session,omitempty"` // whose calls are refused; empty: all
	Actor   string    `json:"actor"`
	Reason  string    `json:"reason,omitempty"`
	Since   time.Time `json:"since"`
	Alone   bool      `json:"alone,omitempty"` // the database has not taken it: it holds in this process alone
}

// A Stopping is what became of an order to stop calls, or to let them pass again.
type Stopping struct {
	Already bool       `json:"already"` // it was so before
	Shared  bool       `json:"shared"`  // it holds for all that use the same database, until it is ended; else for this process
	Left    []StopInfo `json:"left"`    // what is stopped now

	// Alone is why the order could not be written, so that this process alone obeys it, and
	// what becomes of it; empty: it was written.
	Alone string `json:"alone,omitempty"`
}

// maxStopReason is the largest number of bytes in the reason of a stop.
const maxStopReason = 1 << 10

// Stop refuses all calls that are not under way, or those of a session. What is under way
// ends. Lists are still answered. It needs no PIN: like a denial, it lets nothing pass.
func (p *Proxy) Stop(session, actor, reason string) (Stopping, error) {
	if len(reason) > maxStopReason {
		return Stopping{}, fmt.Errorf("the reason has %d bytes, and at most %d are kept", len(reason), maxStopReason)
	}
	return p.setStopped(true, admission.Stop{Session: session, Actor: actor, Reason: reason})
}

// StartAgain ends a stop: that of a session, or that of all calls.
func (p *Proxy) StartAgain(session string, a Actor) (Stopping, error) {
	if err := permit(p, a, "", "let stopped calls pass again"); err != nil {
		return Stopping{}, err
	}
	return p.setStopped(false, admission.Stop{Session: session, Actor: a.Name})
}

func (p *Proxy) setStopped(on bool, s admission.Stop) (Stopping, error) {
	if s.Session != "" && on {
		// Where the database cannot be asked for the session, the stop holds nevertheless.
		if _, err := p.admission.Find(p.life.Ctx, s.Session); errors.Is(err, admission.ErrNoSession) {
			return Stopping{}, fmt.Errorf("no session %q", s.Session)
		}
	}
	done, err := p.admission.SetStopped(p.life.Ctx, on, s)
	if err != nil {
		return Stopping{}, err
	}
	return Stopping{Already: done.Already, Shared: p.shared(), Left: stopInfos(done.Left), Alone: alone(on, p.shared(), done.Alone)}, nil
}

// alone is the sentence about an order that could not be written.
func alone(on, shared bool, why error) string {
	switch {
	case why == nil:
		return ""
	case !shared:
		return fmt.Sprintf("it is not on record: %v", why)
	case on:
		return fmt.Sprintf("the database did not take it: %v. This proxy writes it there when the database takes it, and forgets it if it ends before", why)
	}
	return fmt.Sprintf("the database did not answer: %v. If it has the stop too, calls stay refused until you run petrigate start again", why)
}

// stops lists the stops. With an error it lists those that this process knows.
func (p *Proxy) stops(ctx context.Context) ([]StopInfo, error) {
	stops, err := p.admission.Stops(ctx)
	return stopInfos(stops), err
}

func stopInfos(stops []admission.Stop) []StopInfo {
	list := []StopInfo{}
	for _, s := range stops {
		list = append(list, StopInfo{Session: s.Session, Actor: text.Escape(cmp.Or(s.Actor, "nobody known")), Reason: text.Escape(s.Reason), Since: s.Time, Alone: s.Alone})
	}
	return list
}
