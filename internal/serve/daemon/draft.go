package daemon

import (
	"slices"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
	"github.com/petrigate/petrigate/internal/serve/draft"
	"github.com/petrigate/petrigate/proxy"
)

// drafts returns an evaluator for policy drafts.
func (d *Daemon) drafts() *draft.Evaluator {
	return draft.New(draft.Options{
		InForce: d.reloads.inForce, Files: draftFiles, Problems: Doubts, Tools: d.listedTools, Log: d.recordedDecisions, Busy: d.processors.useAll,
	})
}

// Doubts returns the warnings that petrigate check would report about the configuration, except
// those about its policy.
func Doubts(c *config.Config) diag.List {
	return slices.Concat(check.ConfigWarnings(c), check.NoUpstream(c), check.NoAudit(c), check.Sessions(c),
		check.MissingCommands(c, diag.Warning), TLSProblems(c, diag.Warning))
}

func draftFiles(c *config.Config) []audit.File {
	return list.Map(policyFiles(c), func(f proxy.File) audit.File { return audit.File(f) })
}

// listedTools returns the servers' tools, or nil if any server has not answered yet.
func (d *Daemon) listedTools() []check.ListedTool {
	tools, err := d.Tools("")
	if err != nil || d.hasSilentUpstreams() {
		return nil
	}
	return ListedTools(tools)
}

// recordedDecisions returns the log of this proxy's decisions, or nil if decisions are not stored.
func (d *Daemon) recordedDecisions() *draft.Log {
	switch {
	case d.database != nil:
		return &draft.Log{Source: trail.Database{Backend: d.database}, Name: d.database.place, Durable: true}
	case d.audit != nil:
		return &draft.Log{Source: trail.File(d.config.Audit.File), Name: d.config.Audit.File}
	}
	return nil
}
