package admission

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/petrigate/petrigate/internal/runtime/approval"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/text"
)

// Begin records the start of this process and the policy in force. If the ledger keeps one chain of
// records per process, the start record includes the heads (the last records) of the other chains.
func (a *Admission) Begin(ctx context.Context, p audit.Process) {
	p.Time, p.Event, p.Process = a.now(), "start", a.records.process
	if l, ok := a.ledger.(interface {
		Heads(ctx context.Context) ([]audit.Head, error)
	}); ok {
		var err error
		if p.Heads, err = l.Heads(ctx); err != nil {
			a.log.Error("cannot read where the audit chains of other processes end", "error", err)
		}
	}
	a.note(ctx, p)
	a.note(ctx, a.records.policyEvent(a.Generation()))
}

// Finish records that this process is ending.
func (a *Admission) Finish(ctx context.Context) {
	a.Unwritten.catchUp(ctx)
	for _, e := range a.Unwritten.List() {
		a.log.Error("the outcome stays unknown: it could not be recorded before the process ended",
			"tool", e.Tool, "session", e.Session, "call", e.Call, "outcome", e.Outcome)
	}
	a.note(ctx, audit.Process{Time: a.now(), Event: "end", Process: a.records.process})
}

// note records an event. If that fails, it only logs the error, because calls are refused anyway
// while the ledger cannot record events.
func (a *Admission) note(ctx context.Context, e audit.Event) {
	if err := a.Append(ctx, e); err != nil {
		a.log.Error("recording an event", "event", fmt.Sprintf("%T", e), "error", err)
	}
}

// Append records an event that leaves the state of the nets unchanged.
func (a *Admission) Append(ctx context.Context, e audit.Event) error {
	if !a.ledger.Records() {
		return nil
	}
	c, err := a.ledger.Append(ctx, e)
	if err != nil {
		return err
	}
	return wait(ctx, c)
}

// NoteAnswer logs and records a rejected answer to an approval request.
func (a *Admission) NoteAnswer(ctx context.Context, rejection approval.Rejection, to approval.Record) error {
	level, what := slog.LevelInfo, "deny"
	if rejection.Kind == approval.WrongPIN {
		level = slog.LevelWarn
	}
	if rejection.Approve {
		what = "approve"
	}
	a.log.Log(ctx, level, "answer rejected", "approval", to.Request.ID, "said", what, "why", rejection.Kind, "actor", text.Escape(rejection.Actor), "channel", rejection.Channel)
	err := a.Append(ctx, audit.Answer{
		Time: rejection.At, Event: "answer", Session: to.Call.Session, Upstream: to.Call.Upstream, Tool: audit.Bounded(to.Call.Tool), Approval: to.Request.ID,
		Said: what, Kind: rejection.Kind, Channel: rejection.Channel, Actor: audit.Bounded(rejection.Actor), Reason: audit.Bounded(rejection.Reason),
	})
	if err != nil {
		return fmt.Errorf("recording the rejected answer: %w", err)
	}
	return nil
}
