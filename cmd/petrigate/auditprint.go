package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
	"github.com/petrigate/petrigate/internal/serve/daemon"
)

func auditStats(s stdio) *cobra.Command {
	c := &cobra.Command{
		Use: "stats", Short: "Count calls, refusals and approvals",
		Long: "stats counts the calls of each tool by decision and outcome, with latency quantiles (accurate to 5 %),\n" +
			"refusals by rule, and people's answers.",
	}
	asJSON := c.Flags().Bool("json", false, "print JSON")
	return recordsCommand(s, c, func(ctx context.Context, log *daemon.AuditLog, f *trail.Filter) error {
		var stats trail.Stats
		for r, err := range log.Records(ctx, f) {
			if err != nil {
				return err
			}
			if e, ok := f.Select(&r); ok {
				stats.Add(&e)
			}
		}
		counts := stats.Counts()
		return printEither(s.out, *asJSON, "audit", counts, func() error { return counts.Print(s.out) })
	})
}
