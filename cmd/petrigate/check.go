package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/proxy"
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
		Use:   "check",
		Short: "Check a configuration, rules and nets before an agent runs",
		Args:  cobra.NoArgs,
	}
	var f checkFlags
	c.Flags().StringArrayVar(&f.rules, "rules", nil, "check this `file` of rules instead of a configuration; may be given more than once")
	c.Flags().StringArrayVar(&f.nets, "net", nil, "check this `file` with a net; may be given more than once")
	c.Flags().StringVar(&f.tools, "tools", "", "a recorded tool list, as tools/list gives it: names in rules are held against it")
	c.Flags().BoolVar(&f.live, "live", false, "start the upstreams and hold names in rules against their tools")
	c.Flags().BoolVar(&f.strict, "strict", false, "make warnings errors")
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	c.RunE = func(c *cobra.Command, _ []string) error {
		f.config, _ = c.Flags().GetString("config")
		return check(c.Context(), s, f)
	}
	return c
}

func check(ctx context.Context, s stdio, f checkFlags) error {
	source, cfg, problems, err := f.source()
	if err != nil {
		return err
	}
	if source.Tools, err = f.knownTools(ctx, s, cfg); err != nil {
		return err
	}
	result, err := policy.Build(source)
	var invalid policy.Problems
	if err != nil && !errors.As(err, &invalid) {
		return err
	}
	report := newReport(append(problems, result.Problems...), result, source.Tools)
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
	for _, w := range cfg.Warnings {
		problems = append(problems, configProblem(policy.Warning, "W201", w))
	}
	return policy.FromConfig(cfg), cfg, problems, nil
}

// configProblems turns the errors of a configuration into problems.
func configProblems(err error) (policy.Problems, error) {
	var list config.ErrorList
	var one *config.Error
	switch {
	case errors.As(err, &list):
	case errors.As(err, &one):
		list = config.ErrorList{one}
	default:
		return nil, err
	}
	var problems policy.Problems
	for _, e := range list {
		problems = append(problems, configProblem(policy.Error, "E201", e))
	}
	return problems, nil
}

func configProblem(severity policy.Severity, code string, e *config.Error) policy.Problem {
	p := policy.Problem{
		Severity: severity, File: e.File, Line: e.Line, Column: e.Column,
		Message: e.Msg, Hint: e.Hint, Excerpt: e.Excerpt,
	}
	p.Code = problemCode(code)
	return p
}

// knownTools are all names that calls can have, or nil where they are not known.
func (f checkFlags) knownTools(ctx context.Context, s stdio, cfg *config.Config) ([]string, error) {
	switch {
	case f.tools != "":
		return recordedTools(f.tools)
	case f.live && cfg == nil:
		return nil, &exit{exitUsage, errors.New("--live wants a configuration with upstreams")}
	case f.live:
		return liveTools(ctx, s, cfg)
	default:
		return nil, nil
	}
}

// recordedTools reads a result of tools/list, its tools, or a list of names.
func recordedTools(path string) ([]string, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the tool list: %w", err)
	}
	var list struct {
		Tools []json.RawMessage `json:"tools"`
	}
	if json.Unmarshal(b, &list) != nil && json.Unmarshal(b, &list.Tools) != nil {
		return nil, &exit{exitInvalid, fmt.Errorf("%s is not a tool list: write what tools/list answers, or a list of names", path)}
	}
	names := []string{}
	for i, raw := range list.Tools {
		var tool struct {
			Name string `json:"name"`
		}
		if json.Unmarshal(raw, &tool.Name) != nil && json.Unmarshal(raw, &tool) != nil || tool.Name == "" {
			return nil, &exit{exitInvalid, fmt.Errorf("%s: entry %d of the tool list has no name", path, i+1)}
		}
		names = append(names, tool.Name)
	}
	return names, nil
}

// liveTools asks the upstreams. One that does not answer fails the check.
func liveTools(ctx context.Context, s stdio, cfg *config.Config) ([]string, error) {
	if err := checkCommands(cfg); err != nil {
		return nil, err
	}
	quiet := *cfg
	quiet.Audit.File = ""
	p, err := build(&quiet, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	defer func() { _ = p.Close() }()
	p.Start()
	p.AwaitTools(ctx)
	for _, u := range p.Status().Upstreams {
		if u.Error != "" || u.State != "up" {
			return nil, &exit{exitUpstream, fmt.Errorf("the upstream %s does not answer: %s", u.Name, u.Error)}
		}
	}
	tools, err := p.Tools("")
	var names []string
	for _, t := range tools {
		names = append(names, namesOf(t)...)
	}
	_, _ = fmt.Fprintf(s.err, "%d tools of %d upstreams\n", len(tools), len(cfg.Servers))
	return names, err
}

func namesOf(t proxy.ToolInfo) []string { return []string{t.Exposed, t.Bare, t.Canonical} }

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
	if len(r.Nets) > 0 {
		var rows [][]string
		for _, n := range r.Nets {
			rows = append(rows, []string{n.Name, count(n.States), bounded(n.Bounded), count(n.Deadlocks), ruleText(n.Rule)})
		}
		if err := table(w, "NET|STATES|BOUNDED|DEADLOCKS|RULE", rows); err != nil {
			return err
		}
	}
	errs, warnings := len(r.Problems.Of(policy.Error)), len(r.Problems.Of(policy.Warning))
	_, err := fmt.Fprintf(w, "%d nets, %d errors, %d warnings\n", len(r.Nets), errs, warnings)
	return err
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
