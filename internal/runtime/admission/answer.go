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
func (a *Admission) NoteAnswer(ctx context.Context, said approval.Rejection, to approval.Record) error {
	level, what := slog.LevelInfo, "deny"
	if said.Kind == approval.WrongPIN {
		level = slog.LevelWarn
	}
	if said.Approve {
		what = "approve"
	}
	a.log.Log(ctx, level, "an answer does not count", "approval", to.Request.ID, "said", what, "why", said.Kind, "actor", text.Escape(said.Actor), "channel", said.Channel)
	err := a.Append(ctx, audit.Answer{
		Time: said.At, Event: "answer", Session: to.Call.Session, Upstream: to.Call.Upstream, Tool: audit.Bounded(to.Call.Tool), Approval: to.Request.ID,
		Said: what, Kind: said.Kind, Channel: said.Channel, Actor: audit.Bounded(said.Actor), Reason: audit.Bounded(said.Reason),
	})
	if err != nil {
		return fmt.Errorf("that is not on record: %w", err)
	}
	return nil
}
