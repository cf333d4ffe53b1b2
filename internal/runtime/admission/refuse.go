package admission

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/logkind"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/text"
)

// newRefusal converts r, the nets' refusal of the call c, to the response for the caller.
func (a *Admission) newRefusal(c *Call, r *gate.Refusal) *Refused {
	out := &Refused{
		Text:  a.Text(r, c.Session, c.Gate.Time),
		Facts: Facts{Decision: "refuse", Kind: string(r.Kind), Retry: int64((r.Retry + time.Second - 1) / time.Second)},

		blocks: r.Blocks,
	}
	for _, b := range r.Blocks {
		out.Facts.Nets = append(out.Facts.Nets, Block{Net: b.Net, Cause: string(b.Cause), Rule: a.records.where(b.Rule), Reason: b.Reason})
		out.Facts.Cause = cmp.Or(out.Facts.Cause, string(b.Cause))
	}
	return out
}

// Deny refuses the call c because the request q was not approved. It records the given consent. If
// the consent is nil, it records no answer.
func (a *Admission) Deny(ctx context.Context, c *Call, q *gate.Ask, text string, consent *Consent) *Refused {
	r := Refuse(string(gate.KindApproval), text)
	r.Facts.Cause = string(gate.CauseApproval)
	r.Facts.Nets = list.Map(q.Steps, func(s gate.Step) Block {
		return Block{Net: s.Net, Cause: string(gate.CauseApproval), Rule: a.records.where(s.Rule), Reason: s.Reason}
	})
	a.recordRefusal(ctx, c, r, q.Names, consent)
	return r
}

// Refused records a refusal that was not caused by a net. Even if that fails, the call stays
// refused.
func (a *Admission) Refused(ctx context.Context, c *Call, r *Refused) {
	a.recordRefusal(ctx, c, r, nil, nil)
}

// maxReasons is the maximum number of reasons in a refusal's text. Models read only the first few
// sentences, and the facts contain all reasons.
const maxReasons = 2

// Text returns the text of a refusal: the reason given by each net, without duplicates. Each reason
// is followed by the net's rule and the calls that hold the missing tokens.
func (a *Admission) Text(r *gate.Refusal, session string, now time.Time) string {
	if len(r.Blocks) == 0 {
		return r.Text
	}
	var b strings.Builder
	if r.Kind == gate.KindStateChanged {
		b.WriteString("The state changed while a person was being asked. ")
	}
	seen := map[string]bool{}
	for _, block := range r.Blocks {
		if seen[block.Reason] {
			continue
		}
		seen[block.Reason] = true
		if len(seen) > maxReasons {
			continue
		}
		if len(seen) > 1 {
			b.WriteByte(' ')
		}
		b.WriteString(block.Reason)
		if rule := a.records.where(block.Rule); rule != "" {
			fmt.Fprintf(&b, " (%s)", rule)
		}
		for _, h := range block.Holds {
			h.Unknown = h.Unknown || !h.Other && a.Unwritten.has(session, h.Number)
			b.WriteString(holderSentence(h, now))
		}
		for i := range block.Near {
			b.WriteString(" " + block.Near[i].Sentence())
		}
	}
	for _, way := range gate.Ways(r.Blocks) {
		b.WriteString(" " + way)
	}
	if more := len(seen) - maxReasons; more > 0 {
		fmt.Fprintf(&b, " %s not shown.", text.Subject(more, "more reason", "is", "are"))
	}
	return b.String()
}

// holderSentence describes an open call that contributes to a refusal, and explains how. It omits
// the number of a call in another session, which would mean nothing to the reader.
func holderSentence(h gate.Holder, now time.Time) string {
	what := " and holds the token."
	switch {
	case h.Brings:
		what = ": wait until it has succeeded."
	case h.Voids != "":
		what = fmt.Sprintf(": a concurrent call to %s does not count.", h.Voids)
	}
	call, age := fmt.Sprintf("Call #%d of %s", h.Number, h.Tool), text.Duration(now.Sub(h.Since))
	if h.Other {
		call = fmt.Sprintf("A call to %s in another session", h.Tool)
	}
	if !h.Unknown {
		return fmt.Sprintf(" %s has been in flight for %s%s", call, age, what)
	}
	switch {
	case h.Brings: // waiting does not help if the outcome is unknown
		what = "."
	case h.Voids != "":
		what = fmt.Sprintf(": until it is settled, calls to %s do not count.", h.Voids)
	}
	call = strings.ToLower(call[:1]) + call[1:]
	return fmt.Sprintf(" The outcome of %s, made %s ago, is unknown%s An operator can settle it (petrigate sessions settle).", call, age, what)
}

// logRefusal logs and counts a refusal.
func (a *Admission) logRefusal(c *Call, r *Refused) {
	a.log.Info("call refused", logkind.Refused, "tool", c.Canonical, "session", c.Session, "kind", r.Facts.Kind, "reason", withoutQuotes(r.Text, r.blocks))
	if a.Watch.meter != nil {
		a.Watch.meter.Refused(r)
	}
}

// recordRefusal records a refusal that leaves the state of the nets unchanged.
func (a *Admission) recordRefusal(ctx context.Context, c *Call, r *Refused, names []gate.Name, consent *Consent) {
	if r.Facts.Decision != "ask" { // log an approval request only once, not each time the client retries
		a.logRefusal(c, r)
	}
	if !a.ledger.Records() {
		return
	}
	g := a.Generation()
	if names == nil && r.Facts.Decision == "ask" && c.Gate.Tool != "" {
		names = g.Policy.Names(c.Gate)
	}
	entry := &decisionEntry{}
	a.records.fillDecision(entry, c, g, r.Facts.Decision, names, consent)
	entry.Kind, entry.Reason = r.Facts.Kind, bounded(r.Text)
	entry.Approval = cmp.Or(entry.Approval, r.Facts.Approval)
	entry.Nets = list.Map(r.Facts.Nets, func(b Block) audit.NetVerdict {
		return audit.NetVerdict{Net: b.Net, Verdict: audit.VerdictName(gate.Blocked), Rule: b.Rule}
	})
	if err := a.Append(ctx, &entry.Decision); err != nil {
		a.log.Error("recording a refusal", "error", err)
	}
}

// StopOf returns the stop that covers the session, or nil if this process knows of none.
func (a *Admission) StopOf(session string) *Stop {
	if a.kill == nil {
		return nil
	}
	return a.kill.Stopped(session)
}

// refuseStopped refuses a call because its session is stopped.
func (a *Admission) refuseStopped(ctx context.Context, c *Call) *Refused {
	s := a.StopOf(c.Session)
	if s == nil { // another process has just stopped the session, and this process has not learned of the stop yet
		s = &Stop{}
	}
	r := Refuse("stopped", s.sentence())
	a.Refused(ctx, c, r)
	return r
}

// RefuseError returns a refusal for a call that failed because of a ledger error, either before the
// decision on the call or after its admission.
func (a *Admission) RefuseError(ctx context.Context, c *Call, err error) *Refused {
	if errors.Is(err, ErrStopped) {
		return a.refuseStopped(ctx, c)
	}
	return a.refuseUnrecorded(c.Canonical, err)
}

// refuseUnrecorded returns a refusal for a call whose decision could not be recorded.
func (a *Admission) refuseUnrecorded(tool string, err error) *Refused {
	a.log.Error("call refused", "tool", tool, "error", err)
	why := audit.ErrUnrecorded
	if errors.Is(err, ErrNoSession) {
		why = ErrNoSession
	}
	r := Refuse("internal", "The call was not made: "+why.Error()+".")
	r.Over = why == ErrNoSession
	if a.Watch.meter != nil {
		a.Watch.meter.Refused(r)
	}
	return r
}
