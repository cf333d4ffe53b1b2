package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/runtime/audit/mining"
	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
	"github.com/petrigate/petrigate/internal/serve/daemon"
)

type suggestFlags struct {
	sessions         int
	apply, yes, json bool
}

func newSuggest(s stdio) *cobra.Command {
	c := &cobra.Command{
		Use: "suggest [LOG...]", Short: "Suggest rules that an audit log supports",
		Long: "suggest reads recorded calls and prints rules that always held: which calls followed which others, with the\n" +
			"same values; which numeric limits were reached and never exceeded; which calls never came after content from\n" +
			"strangers.\n" +
			"A comment shows the evidence for each rule. Each rule passes a significance test and a replay: together the\n" +
			"rules refuse no call that passed. Rules that the policy already has are left out. suggest also reports what\n" +
			"nets in shadow mode would have refused, and which approvals were never denied." + aboutLogs,
	}
	var f suggestFlags
	c.Flags().IntVar(&f.sessions, "min-sessions", mining.DefaultSessions, "require evidence from at least `n` sessions for a rule")
	c.Flags().BoolVar(&f.apply, "apply", false, "show the change to the configuration's last file of rules, and write it after confirmation")
	c.Flags().BoolVarP(&f.yes, "yes", "y", false, "with --apply, write without confirmation")
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	c.RunE = func(c *cobra.Command, logs []string) error {
		switch {
		case f.yes && !f.apply:
			return usage("--yes requires --apply")
		case f.apply && f.json:
			return usage("--apply cannot be combined with --json")
		case f.sessions < 1:
			return usage("--min-sessions must be at least 1, not %d", f.sessions)
		}
		r, err := s.configLoader(c)
		if err != nil {
			return err
		}
		return f.suggest(c.Context(), r, logs)
	}
	return c
}

func (f *suggestFlags) suggest(ctx context.Context, r configLoader, names []string) error {
	s := r.s
	cfg, err := r.load(r.options())
	if errors.Is(err, config.ErrNotFound) && len(names) > 0 && !f.apply {
		cfg, err = nil, nil
	}
	if err != nil {
		return err
	}
	log, done, err := openLogs(ctx, names, cfg)
	if err != nil {
		return err
	}
	defer done()
	watch := newProgress(s.err)
	report, err := mining.Suggest(ctx, log, cfg, mining.Options{Sessions: f.sessions, Progress: func(stage string, records int) {
		watch.update(func() string { return stage + ": " + trail.Records(uint64(records)) })
	}})
	watch.clear()
	switch {
	case err != nil:
		return err
	case f.json:
		return printAnswer(s.out, "suggest", report)
	case f.apply:
		return report.Apply(cfg, mining.ApplyOptions{Out: s.out, Ask: s.asker(ctx), Yes: f.yes})
	}
	_, err = fmt.Fprint(s.out, report.Text())
	return err
}

// openLogs opens the named logs or, if no logs are named, the log specified by the configuration.
// The caller must call the returned function to close the logs.
func openLogs(ctx context.Context, names []string, cfg *config.Config) (log mining.Log, done func(), err error) {
	var logs mining.Logs
	var open []*daemon.AuditLog
	done = func() {
		for _, l := range open {
			_ = l.Close()
		}
	}
	if len(names) == 0 {
		names = []string{""}
	}
	var called []string
	for _, name := range names {
		l, err := openOne(ctx, name, cfg)
		if err != nil {
			done()
			return log, nil, err
		}
		_, database := l.Source.(trail.Database)
		open, logs, called = append(open, l), append(logs, l.Source), append(called, l.Name)
		log.Durable = log.Durable || database
	}
	log.Source, log.Name = logs, strings.Join(called, ", ")
	return log, done, nil
}

func openOne(ctx context.Context, name string, cfg *config.Config) (*daemon.AuditLog, error) {
	if name == "" && cfg != nil {
		return daemon.RecordsOf(ctx, cfg)
	}
	return daemon.OpenAuditLog(ctx, name)
}
