package main

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/internal/policy/policytest"
)

type testFlags struct {
	configLoader
	run      string
	cover    bool
	minCover int
	verbose  bool
	json     bool
}

func newTest(s stdio) *cobra.Command {
	c := &cobra.Command{
		Use:   "test [PATH...]",
		Short: "Run the tests of a policy",
		Long: "test runs policy tests: *_test.yaml files whose steps make calls and state the expected answers. PATH is such a\n" +
			"file, a folder (default: the current one), or ./... for a folder and everything below. It also runs files of cases\n" +
			"(*.jsonl) in the format of eval. It exits with code 4 if a test fails.\n\n" +
			"A test file names its policy with config:, or with rules: and nets:. Otherwise it tests the petrigate.yaml, or the\n" +
			"*.rules and *.net.yaml, beside it. --config runs the tests against another policy.\n\n" +
			"    rules: safety.rules\n" +
			"    tests:\n" +
			"      - name: a delete needs a backup\n" +
			"        steps:\n" +
			"          - call: delete\n" +
			"            args: { path: notes.txt }\n" +
			"            reason: requires a successful call to backup   # so it is refused\n" +
			"          - call: backup            # is allowed, and succeeds\n" +
			"          - call: delete\n" +
			"          - call: deploy\n" +
			"            approve: true           # a person approves\n\n" +
			"More keys of a step: result (success, failure, error, unknown, pending), expect (allow, refuse, ask),\n" +
			"rule (file:line, or a net), names, times, would (the verdict of nets in shadow mode), as, annotations, session;\n" +
			"settle: { call: N, result: R } ends a pending call, and after: 2m lets time pass. A test with several sessions\n" +
			"lists them with their principals, as sessions: { a: ann, b: bob }. Instead of steps, a test can contain the\n" +
			"events of a counterexample that check --json prints, with expect: refuse for its last call.",
		Args: cobra.ArbitraryArgs,
	}
	var f testFlags
	c.Flags().StringVar(&f.run, "run", "", "run only the tests whose names match this `regexp`")
	c.Flags().BoolVar(&f.cover, "cover", false, "list rules, maps and transitions that no test exercises")
	c.Flags().IntVar(&f.minCover, "min-cover", 0, "fail if coverage is below this `percentage`")
	c.Flags().BoolVarP(&f.verbose, "verbose", "v", false, "show every step")
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	c.RunE = func(c *cobra.Command, paths []string) error {
		var err error
		if f.configLoader, err = s.configLoader(c); err != nil {
			return err
		}
		if f.minCover < 0 || f.minCover > 100 {
			return usage("--min-cover must be a percentage, not %d", f.minCover)
		}
		f.cover = f.cover || f.minCover > 0
		if len(paths) == 0 {
			paths = []string{"."}
		}
		return test(c.Context(), s, f, paths)
	}
	return c
}

func test(ctx context.Context, s stdio, f testFlags, paths []string) error {
	name, err := regexp.Compile(f.run)
	if err != nil {
		return usage("--run: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	suite := &policytest.Suite{Loader: policytest.Loader{Call: check.CallsUnder, Cover: f.cover, Config: f.path, Options: f.options()}, Name: name, Problems: check.ConfigProblems}
	for _, path := range paths {
		if filepath.Ext(path) == ".rules" {
			return usage("%q is a file of rules; its tests are in *%s", path, policytest.Suffix)
		}
	}
	if err := suite.Load(paths); err != nil {
		return err
	}
	report := suite.Run(ctx)
	switch {
	case f.json:
		err = printJSON(s.out, report)
	case len(report.Problems) > 0:
		printProblems(s.err, report.Problems)
	default:
		err = report.Print(s.out, newInk(s.out), f.verbose)
	}
	switch {
	case err != nil:
		return err
	case len(report.Problems) > 0:
		return &exitError{exitInvalid, nil}
	case report.Passed+report.Failed+report.Nothing == 0:
		return fmt.Errorf("no test has a name that matches %q", f.run)
	case report.Failed > 0:
		return &exitError{exitDiffers, nil}
	case f.cover && report.Coverage.Percent < f.minCover:
		return &exitError{exitDiffers, fmt.Errorf("coverage is %d%%, below the required %d%%", report.Coverage.Percent, f.minCover)}
	}
	return nil
}
