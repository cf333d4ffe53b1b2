package admission

import (
	"context"
	"fmt"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/logkind"
	"github.com/petrigate/petrigate/internal/runtime/audit"
)

// logRefusal logs and counts a refusal.
func (a *Admission) logRefusal(c *Call, r *Refused) {
	a.log.Info("call refused", logkind.Refused, "tool", c.Canonical, "session", c.Session, "kind", r.Facts.Kind, "reason", withoutQuotes(r.Text, r.blocks))
	if a.watch.meter != nil {
		a.watch.meter.Refused(r)
	}
}

// recordRefusal records a refusal that moves no net.
func (a *Admission) recordRefusal(ctx context.Context, c *Call, r *Refused, names []gate.Name, consent *Consent) {
	if r.Facts.Decision != "ask" { // a question is logged once, not in each round
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
	if entry.Approval == "" {
		entry.Approval = r.Facts.Approval
	}
	for _, b := range r.Facts.Nets {
		entry.Nets = append(entry.Nets, audit.NetSays{Net: b.Net, Verdict: audit.VerdictName(gate.Blocked), Rule: b.Rule})
	}
	if err := a.append(ctx, &entry.Decision); err != nil {
		a.log.Error("recording a refusal", "error", err)
	}
}

// Begin records the start of this process and the policy in force. If the ledger has a chain for
// each process, the start record names the ends of the other chains.
func (a *Admission) Begin(ctx context.Context, p audit.Process) {
	p.Time, p.Event, p.Process = a.now(), "start", a.records.process
	if l, ok := a.ledger.(interface {
		Heads(ctx context.Context) ([]audit.Head, error)
	}); ok {
		var err error
		if p.Heads, err = l.Heads(ctx); err != nil {
			a.log.Error("cannot read the ends of the chains of other processes", "error", err)
		}
	}
	a.note(ctx, p)
	a.note(ctx, a.records.policy(a.Generation()))
}

// Finish records the end of this process.
func (a *Admission) Finish(ctx context.Context) {
	a.Unwritten.catchUp(ctx)
	for _, e := range a.Unwritten.List() {
		a.log.Error("the outcome stays unknown: it could not be recorded before the process ended",
			"tool", e.Tool, "session", e.Session, "call", e.Call, "outcome", e.Outcome)
	}
	a.note(ctx, audit.Process{Time: a.now(), Event: "end", Process: a.records.process})
}

// recordSession records the begin or the end of a session.
func (a *Admission) recordSession(ctx context.Context, event string, k Key, at time.Time) {
	a.note(ctx, audit.Session{Time: at, Event: event, Session: k.Session, Principal: k.Principal, Process: a.records.process})
}

// note records an event without reporting an error to the caller. If it fails, calls are refused
// anyway.
func (a *Admission) note(ctx context.Context, e audit.Event) {
	if err := a.Append(ctx, e); err != nil {
		a.log.Error("recording an event", "event", fmt.Sprintf("%T", e), "error", err)
	}
}

// Append records an event that moves no net.
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

// countShadow logs and counts the objection of nets in shadow to a call that passes. The client
// does not see it.
func (a *Admission) countShadow(c *Call, number uint64, r *gate.Refusal) {
	if r == nil {
		return
	}
	w := Would{
		Tool: c.Canonical, Decision: shadowDecision(r), Kind: string(r.Kind), Nets: []string{}, Rules: []string{},
		Reason: withoutQuotes(r.Text, r.Blocks), Last: c.Gate.Time, Arguments: a.Recent.Arguments(c.Key, number),
	}
	for _, b := range r.Blocks {
		w.Nets = append(w.Nets, b.Net)
		if rule := a.records.where(b.Rule); rule != "" {
			w.Rules = append(w.Rules, rule)
		}
	}
	a.log.Info("the call passes in shadow mode", logkind.Shadowed, "would", w.Decision, "tool", w.Tool, "session", c.Session, "kind", w.Kind, "nets", w.Nets, "reason", w.Reason)
	a.counts.add(c.Session, w)
}
