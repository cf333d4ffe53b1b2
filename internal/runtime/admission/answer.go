package admission

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/petrigate/petrigate/internal/runtime/approval"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/text"
)

// NoteAnswer logs and records an answer to an approval that does not count.
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
