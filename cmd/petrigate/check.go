package main

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/verify"
)

// checkFlags are what check is asked to look at.
type checkFlags struct {
	config      string
	rules, nets []string
	tools       string // file of a recorded tool list
	live        bool
	states      int
	timeout     time.Duration
	strict      bool
	unknown     bool // a claim of which it is not known whether it holds is none that does not
	verbose     bool
	json        bool
}

func newCheck(s stdio) *cobra.Command {
	c := &cobra.Command{
		Use:   "check [FILE...]",
		Short: "Check a configuration, rules and nets before an agent runs",
		Long: "check reads a configuration with all that it names, or only the rules and nets that are given, and\n" +
			"reports every problem with its place. Before any agent runs it finds tools that can never be called, rules\n" +
			"that change nothing and policies that get stuck, and proves the lines that begin with prove or says what\n" +
			"calls break them. FILE is a configuration, rules, a net, or a folder with them. It ends with exit code 3\n" +
			"where something does not load or a claim is not proved.",
	}
	var f checkFlags
	c.Flags().StringArrayVar(&f.rules, "rules", nil, "check this `file` of rules instead of a configuration; may be given more than once")
	c.Flags().StringArrayVar(&f.nets, "net", nil, "check this `file` with a net; may be given more than once")
	c.Flags().StringVar(&f.tools, "tools", "", "a recorded tool list (`file`), as tools/list gives it: names in rules are held against it")
	c.Flags().BoolVar(&f.live, "live", false, "start the upstreams and hold names in rules against their tools")
	c.Flags().IntVar(&f.states, "max-states", verify.DefaultStates, "how many `states` one search for a proof looks at")
	c.Flags().DurationVar(&f.timeout, "timeout", 10*time.Second, "how long to work on proofs; what is not settled then is unknown")
	c.Flags().BoolVar(&f.verbose, "verbose", false, "show the nets, their states, and how the maps meet")
	c.Flags().BoolVar(&f.unknown, "allow-unknown", false, "accept claims of which it is not known whether they hold")
	c.Flags().BoolVar(&f.strict, "strict", false, "make warnings errors")
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	c.RunE = func(c *cobra.Command, files []string) error {
		if err := givenFiles(c, files, &f.rules, &f.nets); err != nil {
			return err
		}
		f.config, _ = c.Flags().GetString("config")
		if f.config != "" && len(f.rules)+len(f.nets) > 0 {
			return usage("check looks at --config, or at --rules and --net, and not at both")
		}
		return check(c.Context(), s, f)
	}
	return c
}

func check(ctx context.Context, s stdio, f checkFlags) error {
	source, cfg, problems, err := f.source()
	if err != nil {
		return err
	}
	if cfg == nil && len(problems.Of(policy.Error)) > 0 { // there is nothing to build
		return f.answer(s, newReport(problems, &policy.Result{}, toolSet{}, nil))
	}
	known, err := f.knownTools(ctx, s, cfg)
	if err != nil {
		return err
	}
	source.Tools, source.Schemas = known.names(), known.schemas
	result, err := policy.Build(source)
	var invalid policy.Problems
	if err != nil && !errors.As(err, &invalid) {
		return err
	}
	problems = slices.Concat(problems, result.Problems, emptyPolicy(fileOf(cfg), source))
	if err != nil {
		return f.answer(s, newReport(problems, result, known, nil))
	}
	tools := known
	if !known.known {
		tools = likelyTools(cfg, result)
	}
	watch := newProgress(s.err)
	v, err := verifyPolicy(ctx, result, source, tools, effort{states: f.states, time: f.timeout, watch: watch})
	watch.clear()
	if err != nil {
		return err
	}
	return f.answer(s, newReport(slices.Concat(problems, v.problems()), result, known, v))
}

func fileOf(cfg *config.Config) string {
	if cfg == nil {
		return ""
	}
	return cfg.File
}

func (f checkFlags) answer(s stdio, report checkReport) (err error) {
	if !f.unknown {
		report.open = report.unknown()
	}
	report.OK = len(report.Problems.Of(policy.Error)) == 0 && report.open == 0 && (!f.strict || len(report.Problems.Of(policy.Warning)) == 0)
	if f.json {
		err = printJSON(s.out, report)
	} else {
		err = report.print(s.out, f.verbose)
	}
	if err == nil && !report.OK {
		err = &exit{exitInvalid, nil}
	}
	return err
}

// source is what is to be checked. What is wrong with the configuration
// itself is among the problems, so that all is reported in one form.
func (f checkFlags) source() (policy.Source, *config.Config, policy.Problems, error) {
	if len(f.rules)+len(f.nets) > 0 {
		texts, nets, err := policyFiles(f.rules, f.nets)
		problems, err := configProblems(err)
		return policy.Source{Rules: texts, Nets: nets}, nil, problems, err
	}
	cfg, err := config.Load(config.Options{Path: f.config, WorkDir: true})
	problems, err := configProblems(err)
	if err != nil || len(problems) > 0 {
		return policy.Source{}, nil, problems, err
	}
	problems = slices.Concat(configWarnings(cfg), noUpstream(cfg), noAudit(cfg))
	if !f.live { // which has them as errors
		problems = slices.Concat(problems, missingCommands(cfg, policy.Warning), tlsFiles(cfg, policy.Warning))
	}
	return policy.FromConfig(cfg), cfg, problems, nil
}

// listed are the names that a net speaks of, as written.
func listed(net gate.NetInfo) []string {
	var names []string
	for _, t := range net.Transitions {
		for _, tool := range t.Tools {
			names = append(names, written(tool))
		}
	}
	return append(names, net.Free...)
}

// written is the name of a tool as rules write it: one with a dot stands in
// quotes where it is no action.
func written(t gate.Tool) string {
	if t.Kind == gate.Literal && strings.Contains(t.Name, ".") {
		return `"` + t.Name + `"`
	}
	return t.Name
}
