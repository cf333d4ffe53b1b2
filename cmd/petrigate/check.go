package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/internal/policy/policydiff"
	"github.com/petrigate/petrigate/internal/policy/verify"
	"github.com/petrigate/petrigate/internal/serve/daemon"
)

type checkFlags struct {
	policyFlags
	tools   string // file with a recorded tool list
	live    bool
	states  int
	timeout time.Duration
	strict  bool
	unknown bool // whether to accept claims about the policy that could not be proved or refuted
	verbose bool
	json    bool
}

func newCheck(s stdio) *cobra.Command {
	c := &cobra.Command{
		Use:   "check [FILE...]",
		Short: "Check a configuration, rules and nets before an agent runs",
		Long: "check reads a configuration and the files it names, or only the given rules and nets, and reports every\n" +
			"problem with its position. It finds tools that can never be called, rules without effect and policies that get\n" +
			"stuck, before any agent runs. It proves each prove line or shows calls that break it. FILE is a configuration,\n" +
			"a file of rules, a net, or a folder that contains them. check exits with code 3 if a file does not load or\n" +
			"a claim is not proved.",
	}
	var f checkFlags
	f.add(c, "check")
	c.Flags().StringVar(&f.tools, "tools", "", "check names in rules against this recorded tool list (`file`, a response to tools/list)")
	c.Flags().BoolVar(&f.live, "live", false, "start the upstreams and check names in rules against their tools")
	c.Flags().IntVar(&f.states, "max-states", verify.DefaultStates, "explore at most this many `states` per search")
	c.Flags().DurationVar(&f.timeout, "timeout", 10*time.Second, "stop searching for proofs after this time; claims not settled by then are unknown")
	c.Flags().BoolVar(&f.verbose, "verbose", false, "show the nets, their states, how the maps overlap, and what was not explored")
	c.Flags().BoolVar(&f.unknown, "allow-unknown", false, "do not fail on claims that could not be proved or refuted")
	c.Flags().BoolVar(&f.strict, "strict", false, "treat warnings as errors")
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	c.RunE = func(c *cobra.Command, files []string) error {
		if err := f.parse(s, c, files); err != nil {
			return err
		}
		return runCheck(c.Context(), s, f)
	}
	return c
}

func runCheck(ctx context.Context, s stdio, f checkFlags) error {
	source, problems, err := f.source()
	if err != nil {
		return err
	}
	cfg := source.Config
	if cfg == nil && len(problems.Of(diag.Error)) > 0 { // without a valid configuration, no policy can be built
		return f.answer(s, check.NewReport(problems, &policy.Result{}, check.ToolSet{}, nil))
	}
	known, err := f.knownTools(ctx, s, cfg)
	if err != nil {
		return err
	}
	problems = append(problems, check.Denied(cfg, f.agents(ctx, s, cfg))...)
	watch := newProgress(s.err)
	report, _, err := check.Look(ctx, source, problems, known, check.Effort{States: f.states, Time: f.timeout, Now: time.Now, Narrower: policydiff.Narrower, Widened: policydiff.Widened, Report: func(spent time.Duration) {
		watch.update(func() string {
			return fmt.Sprintf("searching for proofs: %.0f of at most %.0f s", spent.Seconds(), f.timeout.Seconds())
		})
	}})
	watch.clear()
	if err != nil {
		return err
	}
	return f.answer(s, report)
}

func (f checkFlags) answer(s stdio, report check.Report) (err error) {
	report.Judge(f.strict, f.unknown)
	if f.json {
		err = printJSON(s.out, report)
	} else {
		err = report.Print(s.out, newInk(s.out), f.verbose)
	}
	if err == nil && !report.OK {
		err = &exitError{exitInvalid, nil}
	}
	return err
}

// source loads the policy to check. If the configuration contains mistakes, source returns them as
// problems rather than as an error, so that all problems are reported in the same form.
func (f checkFlags) source() (policy.Source, diag.List, error) {
	source, err := f.load()
	problems, err := check.ConfigProblems(err)
	if err != nil || source.Config == nil {
		return source, problems, err
	}
	cfg := source.Config
	followed, err := check.ConfigProblems(daemon.CheckBases(cfg))
	followed = append(followed, daemon.TokenProblems(cfg)...)
	if err != nil || !f.live {
		return source, slices.Concat(followed, daemon.Doubts(cfg)), err
	}
	return source, slices.Concat(followed, check.ConfigWarnings(cfg), check.NoUpstream(cfg), check.NoAudit(cfg), check.Sessions(cfg)), nil // omit the warnings about commands and TLS files, because --live reports these problems as errors
}

// agents returns the agents whose built-in tools must be checked. It reads the agents'
// configuration files only with --live.
func (f checkFlags) agents(ctx context.Context, s stdio, c *config.Config) []string {
	if d, err := (&deskFlags{}).desk(ctx, s); err == nil && f.live {
		return hookedAgents(d, c)
	}
	return check.Listened(c)
}
