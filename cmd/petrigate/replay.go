package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/runtime/audit/replay"
	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
	"github.com/petrigate/petrigate/internal/serve/daemon"
	"github.com/petrigate/petrigate/internal/text"
)

func newReplay(s stdio) *cobra.Command {
	c := &cobra.Command{
		Use: "replay", Short: "Decide the calls of an audit log again, under the same or a different policy",
		Long: "replay decides every call of an audit log again, session by session, at the recorded times. Under the recorded\n" +
			"policy each verdict must match. Under a different policy replay shows the first decision that differs, and the\n" +
			"number of differences for each rule. It treats a call that the policy refuses as if it had not been made. It does\n" +
			"not guess missing data: it counts those decisions as unknown. It does not replay a log with a broken hash chain:\n" +
			"it reports the position and exits with code 4.",
	}
	var f policyFlags
	f.add(c, "replay under")
	asJSON := c.Flags().Bool("json", false, "print JSON")
	detailed := c.Flags().Bool("detailed-exitcode", false, "exit with code 4 if a decision differs")
	c = logCommand(s, c, func(ctx context.Context, log *daemon.AuditLog) error {
		p, err := f.policy()
		if err != nil {
			return err
		}
		verified, err := verifyLog(ctx, s, log)
		if err != nil {
			return err
		}
		r, err := replayLog(ctx, s, log, p, verified.Removed.CompleteSince())
		if err != nil {
			return err
		}
		err = printEither(s.out, *asJSON, "replay", r, func() error { return printReplay(s.out, log.Name, r) })
		if err == nil && *detailed && r.Differs() {
			return &exitError{code: exitDiffers}
		}
		return err
	})
	read := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := f.parse(s, c, nil); err != nil {
			return err
		}
		return read(c, args)
	}
	return c
}

// verifyLog verifies the log's hash chain. It prints the warnings of the verification, for example
// about records that were removed. It returns an error if the log was altered, because replaying a
// forged log would prove nothing.
func verifyLog(ctx context.Context, s stdio, log *daemon.AuditLog) (*trail.Report, error) {
	r, err := trail.VerifySource(ctx, log.Source)
	if err != nil {
		return nil, err
	}
	warnings := r.Warnings
	if r.Removed != nil {
		warnings = append(warnings, r.Removed.String()+": decisions that depend on them are unknown")
	}
	for _, w := range warnings {
		if _, err := fmt.Fprintf(s.err, "petrigate: warning: %s\n", text.Escape(w)); err != nil {
			return nil, err
		}
	}
	if !r.OK() {
		return nil, &exitError{exitDiffers, fmt.Errorf("%s was altered, so it is not replayed: %s", log.Name, r.Faults[0])}
	}
	return &r, nil
}

// policy builds the policy selected by the flags.
func (f *policyFlags) policy() (*policy.Result, error) {
	source, err := f.load()
	if err != nil {
		return nil, err
	}
	return policy.Build(source)
}

func replayLog(ctx context.Context, s stdio, log *daemon.AuditLog, p *policy.Result, whole time.Time) (*replay.Report, error) {
	_, database := log.Source.(trail.Database)
	r, err := replay.New(replay.Options{Policy: p.Policy, Active: p.Active, Durable: database, Whole: whole})
	if err != nil {
		return nil, err
	}
	watch, n := newProgress(s.err), 0
	defer watch.clear()
	for record, err := range log.Records(ctx, nil) {
		if err != nil {
			return nil, err
		}
		e, err := record.Entry()
		if err != nil {
			return nil, fmt.Errorf("record %d cannot be read: %w", record.Seq, err)
		}
		r.Add(&record, &e)
		n++
		watch.update(func() string { return trail.Records(uint64(n)) })
	}
	report := r.Report()
	return &report, nil
}

func printReplay(w io.Writer, name string, r *replay.Report) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s, %s decisions\n", name, trail.Records(r.Records), text.Grouped(r.Decisions))
	switch {
	case len(r.Recorded) == 1 && r.Recorded[0] == r.Policy:
		fmt.Fprintf(&b, "policy %.12s: same as recorded\n", r.Policy)
	case len(r.Recorded) > 0:
		fmt.Fprintf(&b, "policy %.12s; recorded: %s\n", r.Policy, abbreviate(r.Recorded))
	}
	fmt.Fprintf(&b, "%s match the record\n", text.Grouped(r.Agreed))
	if r.Wrong > 0 {
		fmt.Fprintf(&b, "%s differ although the policy is the same: the log was changed (petrigate audit verify) or is incomplete\n", text.Grouped(r.Wrong))
	}
	if r.Different > 0 {
		fmt.Fprintf(&b, "%s differ under this policy\n", text.Grouped(r.Different))
	}
	if r.Unknown > 0 {
		fmt.Fprintf(&b, "%s are unknown:\n", text.Grouped(r.Unknown))
		for _, why := range r.Reasons {
			fmt.Fprintf(&b, "  %s: %s\n", text.Grouped(why.Count), text.Escape(why.Text))
		}
	}
	if d := r.First; d != nil {
		fmt.Fprintf(&b, "first: record %d of %s, session %s, tool %s\n", d.Seq, d.Time.UTC().Format(trail.TimeStamp), text.Escape(d.Session), text.Escape(d.Tool))
		fmt.Fprintf(&b, "  recorded: %s\n  now: %s\n", text.Escape(d.Recorded), text.Escape(d.Replayed))
		if d.Reason != "" {
			fmt.Fprintf(&b, "  %s\n", text.Escape(d.Reason))
		}
	}
	if _, err := io.WriteString(w, b.String()); err != nil || len(r.Rules) == 0 {
		return err
	}
	rows := list.Map(r.Rules, func(c replay.RuleCount) []string {
		return []string{text.Grouped(c.Count), c.Was, c.Now, c.Net, c.Rule}
	})
	return text.TableBelow(w, "", "DECISIONS|RECORDED|NOW|NET|RULE", rows)
}

func abbreviate(fingerprints []string) string {
	all := list.Map(fingerprints[:min(len(fingerprints), 5)], func(p string) string { return fmt.Sprintf("%.12s", p) })
	if more := len(fingerprints) - len(all); more > 0 {
		all = append(all, fmt.Sprintf("%d more", more))
	}
	return strings.Join(all, ", ")
}
