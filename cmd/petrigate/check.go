package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy"
)

// checkFlags are what check is asked to look at.
type checkFlags struct {
	config      string
	rules, nets []string
	tools       string // file of a recorded tool list
	live        bool
	strict      bool
	json        bool
}

// checkReport is the answer of check, in the form that tools rely on.
type checkReport struct {
	Version   int             `json:"version"`
	OK        bool            `json:"ok"`
	Problems  policy.Problems `json:"problems"`
	Nets      []policy.Net    `json:"nets"`
	Tools     []checkedTool   `json:"tools"`
	Proofs    []struct{}      `json:"proofs"`
	Redundant []string        `json:"redundant"`
}

// checkedTool is one name; whether it can be called is not proved yet.
type checkedTool struct {
	Name     string   `json:"name"`
	Callable *bool    `json:"callable"`
	Shortest []string `json:"shortest"`
}

func newCheck(s stdio) *cobra.Command {
	c := &cobra.Command{
		Use:   "check [FILE.rules...]",
		Short: "Check a configuration, rules and nets before an agent runs",
		Long: "check reads a configuration with all that it names, or only the rules and nets that are given, and\n" +
			"reports every problem with its place. It ends with exit code 3 where something does not load.",
	}
	var f checkFlags
	c.Flags().StringArrayVar(&f.rules, "rules", nil, "check this `file` of rules instead of a configuration; may be given more than once")
	c.Flags().StringArrayVar(&f.nets, "net", nil, "check this `file` with a net; may be given more than once")
	c.Flags().StringVar(&f.tools, "tools", "", "a recorded tool list, as tools/list gives it: names in rules are held against it")
	c.Flags().BoolVar(&f.live, "live", false, "start the upstreams and hold names in rules against their tools")
	c.Flags().BoolVar(&f.strict, "strict", false, "make warnings errors")
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	c.RunE = func(c *cobra.Command, files []string) error {
		for _, file := range files {
			if filepath.Ext(file) != ".rules" {
				return usage("%q is no file of rules; name a configuration by --config, and a net by --net", file)
			}
		}
		f.rules = append(f.rules, files...)
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
	if len(problems.Of(policy.Error)) > 0 { // there is nothing to build
		return f.answer(s, newReport(problems, &policy.Result{}, nil))
	}
	if source.Tools, err = f.knownTools(ctx, s, cfg); err != nil {
		return err
	}
	result, err := policy.Build(source)
	var invalid policy.Problems
	if err != nil && !errors.As(err, &invalid) {
		return err
	}
	report := newReport(slices.Concat(problems, result.Problems, emptyPolicy(fileOf(cfg), source)), result, source.Tools)
	return f.answer(s, report)
}

func fileOf(cfg *config.Config) string {
	if cfg == nil {
		return ""
	}
	return cfg.File
}

func (f checkFlags) answer(s stdio, report checkReport) (err error) {
	report.OK = len(report.Problems.Of(policy.Error)) == 0 && (!f.strict || len(report.Problems) == 0)
	if f.json {
		err = printJSON(s.out, report)
	} else {
		err = report.print(s.out)
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
	problems = slices.Concat(configWarnings(cfg), noUpstream(cfg))
	if !f.live { // which has them as errors
		problems = append(problems, missingCommands(cfg, policy.Warning)...)
	}
	return policy.FromConfig(cfg), cfg, problems, nil
}

func newReport(problems policy.Problems, result *policy.Result, known []string) checkReport {
	r := checkReport{Version: 1, Problems: problems, Nets: result.Nets, Tools: []checkedTool{}, Proofs: []struct{}{}, Redundant: []string{}}
	if r.Problems == nil {
		r.Problems = policy.Problems{}
	}
	if r.Nets == nil {
		r.Nets = []policy.Net{}
	}
	seen := map[string]bool{}
	add := func(name string) {
		if !seen[name] {
			seen[name] = true
			r.Tools = append(r.Tools, checkedTool{Name: name})
		}
	}
	if result.Policy != nil {
		for _, net := range result.Policy.Nets() {
			for _, name := range listed(net) {
				add(name)
			}
		}
	}
	for _, name := range known {
		add(name)
	}
	return r
}

// listed are the names that a net speaks of, as written.
func listed(net gate.NetInfo) []string {
	var names []string
	for _, t := range net.Transitions {
		for _, tool := range t.Tools {
			names = append(names, tool.Name)
		}
	}
	return append(names, net.Free...)
}

func (r checkReport) print(w io.Writer) error {
	printProblems(w, r.Problems)
	if len(r.Problems) > 0 && len(r.Nets) > 0 {
		_, _ = fmt.Fprintln(w)
	}
	if len(r.Nets) > 0 {
		var rows [][]string
		for _, n := range r.Nets {
			rows = append(rows, []string{n.Name, count(n.States), bounded(n.Bounded), count(n.Deadlocks), ruleText(n.Rule)})
		}
		if err := table(w, "", "NET|STATES|BOUNDED|DEADLOCKS|FROM", rows); err != nil {
			return err
		}
		_, _ = fmt.Fprintln(w)
	}
	_, err := fmt.Fprintln(w, r.summary())
	return err
}

// summary is the last line: whether the policy is good, and of how much.
func (r checkReport) summary() string {
	errs, warnings := len(r.Problems.Of(policy.Error)), len(r.Problems.Of(policy.Warning))
	verdict, of := "ok", ""
	if len(r.Nets) > 0 {
		of = " in " + number(len(r.Nets), "net")
	}
	switch {
	case !r.OK && errs == 0:
		verdict = "not ok, by --strict"
	case !r.OK:
		verdict = "not ok"
	}
	if errs+warnings == 0 {
		return verdict + ": no problems" + of
	}
	return fmt.Sprintf("%s: %s and %s%s", verdict, number(errs, "error"), number(warnings, "warning"), of)
}

func count(n *int) string {
	if n == nil {
		return "?"
	}
	return strconv.Itoa(*n)
}

func bounded(b *bool) string {
	switch {
	case b == nil:
		return "?"
	case *b:
		return "yes"
	default:
		return "no"
	}
}

func ruleText(r policy.Rule) string {
	return gate.Position{File: r.File, Line: r.Line, Column: r.Column}.String()
}
