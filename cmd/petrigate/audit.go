package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
	"github.com/petrigate/petrigate/internal/serve/daemon"
)

func newAudit(s stdio) *cobra.Command {
	return group("audit", "Verify and read the audit log", auditVerify(s), auditTail(s), auditQuery(s), auditStats(s))
}

// aboutLogs is the paragraph of help text that explains the LOG argument.
const aboutLogs = "\n\nLOG is a file (with its rotated files), a SQLite database, or the URL of a PostgreSQL database. Without it the\n" +
	"command reads the log of the configuration."

// logCommand turns c into a command that reads an audit log.
func logCommand(s stdio, c *cobra.Command, do func(ctx context.Context, log *daemon.AuditLog) error) *cobra.Command {
	c.Use += " [LOG]"
	c.Long += aboutLogs
	c.Args, c.ValidArgsFunction = cobra.MaximumNArgs(1), completeFiles("jsonl", "db")
	c.RunE = func(c *cobra.Command, args []string) error {
		log, err := s.openLog(c, args)
		if errors.Is(err, daemon.ErrNoAuditLog) {
			err = usage("%w", err)
		}
		if err != nil {
			return err
		}
		defer func() { _ = log.Close() }()
		return do(c.Context(), log)
	}
	return c
}

// openLog opens the log named in args. Without an argument, it opens the log specified by the
// configuration.
func (s stdio) openLog(c *cobra.Command, args []string) (*daemon.AuditLog, error) {
	if len(args) > 0 && args[0] != "" {
		return daemon.OpenAuditLog(c.Context(), args[0])
	}
	r, err := s.configLoader(c)
	if err != nil {
		return nil, err
	}
	r.offline = true
	o := r.options()
	o.Partial = true
	cfg, err := r.load(o)
	if errors.Is(err, config.ErrNotFound) {
		err = fmt.Errorf("%w; or pass the log as an argument", err)
	}
	if err != nil {
		return nil, err
	}
	return daemon.RecordsOf(c.Context(), cfg)
}

func auditVerify(s stdio) *cobra.Command {
	c := &cobra.Command{
		Use: "verify", Short: "Detect changes to the log",
		Long: "verify checks the hash chain of the log. It detects changed, removed, inserted and moved records, including at\n" +
			"the end, reports the first bad line and exits with code 4. If the head file beside the log is missing, it cannot\n" +
			"detect records removed at the end, and exits with code 1.",
	}
	asJSON := c.Flags().Bool("json", false, "print JSON")
	return logCommand(s, c, func(ctx context.Context, log *daemon.AuditLog) error {
		r, err := trail.VerifySource(ctx, log.Source)
		if err != nil {
			return err
		}
		err = printEither(s.out, *asJSON, "audit", r, func() error { return r.Print(s.out, log.Name) })
		switch {
		case err != nil:
			return err
		case !r.OK():
			return &exitError{code: exitDiffers}
		case r.Headless:
			return fmt.Errorf("%s cannot be compared with its head: records at the end may have been removed", log.Name)
		}
		return nil
	})
}

// filterFlags holds the flags that select audit records.
type filterFlags struct {
	trail.Filter
	since, until string
}

func (f *filterFlags) add(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.Event, "event", "", "records of this `kind`, such as decision or outcome")
	flags.StringVar(&f.Session, "session", "", "records of the session with this `id`")
	flags.StringVar(&f.Principal, "principal", "", "records of this `principal`")
	flags.StringVar(&f.Tool, "tool", "", "calls of the tool with this `name`, with or without its upstream")
	flags.StringVar(&f.Kind, "kind", "", "calls refused for this `kind` of reason, such as blocked")
	flags.StringVar(&f.Net, "net", "", "calls with a verdict from this `net`")
	flags.StringVar(&f.Approval, "approval", "", "calls whose approval has this `id`")
	flags.Uint64Var(&f.Call, "call", 0, "records of the call with this `number` in its session")
	flags.Var(&choice{among: []string{"allow", "refuse", "ask"}}, "decision", "calls with this decision")
	flags.Var(&choice{among: []string{"calls", "acts"}}, "only", "only calls, or everything except the start and end of processes and sessions")
	flags.StringVar(&f.since, "since", "", "records since this `time`: 2026-01-31, 2026-01-31T15:04:05Z, or 2h ago")
	flags.StringVar(&f.until, "until", "", "records before this `time`")
}

// parse converts the values of --since and --until to times, and copies the values of --decision
// and --only to the filter.
func (f *filterFlags) parse(c *cobra.Command, now time.Time) (err error) {
	f.Decision, f.Only = c.Flags().Lookup("decision").Value.String(), c.Flags().Lookup("only").Value.String()
	if f.Since, err = parseTime(f.since, now); err != nil {
		return usage("--since: %w", err)
	}
	if f.Until, err = parseTime(f.until, now); err != nil {
		return usage("--until: %w", err)
	}
	return nil
}

// parseTime parses a time, which may be relative to now, such as "2h ago".
func parseTime(s string, now time.Time) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if d, err := time.ParseDuration(strings.TrimSpace(strings.TrimSuffix(s, "ago"))); err == nil {
		return now.Add(-d), nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", time.DateOnly} {
		if t, err := time.ParseInLocation(layout, s, time.Local); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("expected 2026-01-31, 2026-01-31T15:04:05Z or 2h, not %q", s)
}

// recordsCommand turns c into a command that reads audit records and has flags to select them.
func recordsCommand(s stdio, c *cobra.Command, do func(ctx context.Context, log *daemon.AuditLog, f *trail.Filter) error) *cobra.Command {
	f := &filterFlags{}
	f.add(c)
	return logCommand(s, c, func(ctx context.Context, log *daemon.AuditLog) error {
		if err := f.parse(c, time.Now()); err != nil {
			return err
		}
		return do(ctx, log, &f.Filter)
	})
}

func auditTail(s stdio) *cobra.Command {
	c := &cobra.Command{
		Use: "tail", Short: "Show the last records, and follow the log",
		Long: "tail shows the last records of the log. With -f it follows the log, across rotation to a new file.",
	}
	lines := c.Flags().IntP("lines", "n", 10, "start with the last `n` records")
	follow := c.Flags().BoolP("follow", "f", false, "follow the log")
	asJSON := c.Flags().Bool("json", false, "print a JSON object for each record")
	return recordsCommand(s, c, func(ctx context.Context, log *daemon.AuditLog, f *trail.Filter) error {
		p := trail.NewPrinter(s.out, *asJSON)
		last, end, err := trail.Last(ctx, log.Source, max(*lines, 0), f)
		if err != nil {
			return err
		}
		for i := range last {
			if err := p.Print(&last[i]); err != nil {
				return err
			}
		}
		if !*follow {
			return nil
		}
		pass := func(r trail.Record) error {
			if _, ok := f.Select(&r); !ok {
				return nil
			}
			return p.Print(&r)
		}
		if file, ok := log.Source.(trail.File); ok {
			err = file.Follow(ctx, end, pass)
		} else {
			err = log.Source.(trail.Database).Follow(ctx, time.Now(), pass)
		}
		if ctx.Err() != nil { // users stop tail -f with a signal, so a canceled context is not an error
			return nil
		}
		return err
	})
}

func auditQuery(s stdio) *cobra.Command {
	c := &cobra.Command{
		Use: "query", Short: "Show the records that match",
		Long: "query shows the records that match all given flags, oldest first.",
	}
	limit := c.Flags().Int("limit", 0, "show at most `n` records; 0: all")
	asJSON := c.Flags().Bool("json", false, "print a JSON object for each record")
	return recordsCommand(s, c, func(ctx context.Context, log *daemon.AuditLog, f *trail.Filter) error {
		p, left := trail.NewPrinter(s.out, *asJSON), *limit
		for r, err := range log.Records(ctx, f) {
			if err != nil {
				return err
			}
			if _, ok := f.Select(&r); !ok {
				continue
			}
			if err := p.Print(&r); err != nil {
				return err
			}
			if left--; left == 0 {
				break
			}
		}
		if p.Printed == 0 && !*asJSON {
			_, err := fmt.Fprintln(s.out, "no records")
			return err
		}
		return nil
	})
}

func auditStats(s stdio) *cobra.Command {
	c := &cobra.Command{
		Use: "stats", Short: "Count calls, refusals and approvals",
		Long: "stats counts the calls of each tool by decision and outcome, with latency quantiles (accurate to 5 %),\n" +
			"refusals by rule, and approval decisions.",
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
