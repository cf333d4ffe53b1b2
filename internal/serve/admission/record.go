package admission

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/serve/audit"
	"github.com/petrigate/petrigate/internal/text"
)

// Bounds of what callers can write into one record.
const (
	maxNames  = 64
	maxReason = 4 << 10
)

// allowed are the events of an admission.
func (a *Admission) allowed(c *Call, g *Generation, d *gate.Allow, consent *Consent) []audit.Event {
	if !a.ledger.Records() {
		return nil
	}
	entry := a.decisionRecord(c, g, "allow", d.Names, consent)
	entry.Call = d.Ticket.Number
	for _, v := range d.Nets {
		entry.Nets = append(entry.Nets, audit.NetSays{Net: v.Net, Verdict: audit.VerdictName(v.Kind), Transition: v.Transition, Rule: a.where(v.Rule), Shadow: v.Shadow})
	}
	entry.Would = a.would(d.Would)
	return []audit.Event{entry}
}

// ended are the events of an outcome.
func (a *Admission) ended(t *Ticket, o gate.Outcome, by string, now time.Time) []audit.Event {
	if !a.ledger.Records() {
		return nil
	}
	return []audit.Event{audit.Outcome{
		Time: now, Event: "outcome", Session: t.key.Session, Call: t.Number,
		Tool: t.tool, Outcome: audit.OutcomeName(o), By: by,
		Millis: float64(now.Sub(t.since).Microseconds()) / 1000,
	}}
}

// recordRefusal puts a refusal on record.
func (a *Admission) recordRefusal(ctx context.Context, c *Call, r *Refused, g *Generation, names []gate.Name, said *Consent) {
	if r.Facts.Decision != "ask" { // which is told once, and not at each round
		a.log.Info("call refused", "tool", c.Canonical, "session", c.Session, "kind", r.Facts.Kind, "reason", r.Text)
	}
	if !a.ledger.Records() {
		return
	}
	entry := a.decisionRecord(c, g, r.Facts.Decision, names, said)
	entry.Kind, entry.Reason, entry.Remedy = r.Facts.Kind, r.Text, r.Facts.Remedy
	if len(entry.Reason) > maxReason {
		entry.Reason = text.Excerpt(entry.Reason, maxReason)
	}
	if entry.Approval == "" {
		entry.Approval = r.Facts.Approval
	}
	for _, b := range r.Facts.Nets {
		entry.Nets = append(entry.Nets, audit.NetSays{Net: b.Net, Verdict: audit.VerdictName(gate.Blocked), Rule: b.Rule})
	}
	if err := a.append(ctx, entry); err != nil {
		a.log.Error("recording a refusal", "error", err)
	}
}

func (a *Admission) decisionRecord(c *Call, g *Generation, decision string, names []gate.Name, consent *Consent) audit.Decision {
	r := audit.Decision{
		Time: a.now(), Event: "decision", Decision: decision, Policy: g.Fingerprint,
		Session: c.Session, Principal: c.Principal, Client: audit.Bounded(c.Client), ID: string(c.ID),
		Upstream: c.Upstream, Tool: c.Tool, Arguments: c.Digest, Shadow: g.Policy.Shadow(),
	}
	if r.Arguments == "" {
		sum := sha256.Sum256(c.Gate.Args)
		r.Arguments = hex.EncodeToString(sum[:])
	}
	for _, n := range names[:min(len(names), maxNames)] {
		r.Names = append(r.Names, audit.Bounded(n.Text))
	}
	if consent != nil {
		r.Approval, r.Channel, r.Actor = consent.ID, consent.Channel, consent.Actor
	}
	return r
}

// would is what the nets in shadow say against the call, for the record.
func (a *Admission) would(r *gate.Refusal) *audit.Would {
	if r == nil {
		return nil
	}
	w := &audit.Would{Decision: wouldDecide(r), Kind: string(r.Kind), Reason: r.Text}
	verdict := audit.VerdictName(gate.Blocked)
	if r.Kind == gate.KindApproval {
		verdict = audit.VerdictName(gate.Gated)
	}
	for _, b := range r.Blocks {
		w.Nets = append(w.Nets, audit.NetSays{Net: b.Net, Verdict: verdict, Rule: a.where(b.Rule), Shadow: true})
	}
	return w
}

// Append puts an event on record that moves no net.
func (a *Admission) Append(ctx context.Context, e audit.Event) error {
	if !a.ledger.Records() {
		return nil
	}
	return a.append(ctx, e)
}

func (a *Admission) append(ctx context.Context, e audit.Event) error {
	c, err := a.ledger.Append(ctx, e)
	if err != nil {
		return err
	}
	return wait(ctx, c)
}
