package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/internal/policy/starter"
)

const initHelp = "init asks the servers of the configuration for their tools and proposes rules: what only reads passes, a\n" +
	"person is asked about what cannot be taken back, edits need a look, and limits end what runs away. It guesses\n" +
	"from names, hints, schemas and a list of well-known servers, explains each rule in a comment, adds claims\n" +
	"and proves them. The policy begins in shadow: it refuses nothing and records what it would refuse.\n\n" +
	"It prints the rules, and writes them only with --yes, or after a question at a terminal: " + starter.FileName + "\n" +
	"beside the configuration, and the missing keys into it. What is there already is never overwritten.\n\n" +
	"A server that does not answer is left out, and the file says so: init ends with exit code 7 then. Run it again\n" +
	"once the server answers, and it prints what to add.\n\n" +
	"With an AGENT (claude-code, codex, gemini-cli, cursor or vscode) the policy is for the tools of that agent\n" +
	"itself: tests since the last change before a push, and a person is asked before\n" +
	"files are removed for good, a forced push, publishing, deploying and files with keys. init looks for the\n" +
	"command that runs the tests in package.json, go.mod, Cargo.toml, pyproject.toml and the Makefile of the\n" +
	"present folder; --test names another. With --pipefail, tests whose output goes through a pipe count too.\n" +
	"Without a configuration it makes that of the user."

func newInit(s stdio) *cobra.Command {
	c := &cobra.Command{
		Use: "init [AGENT]", Short: "Propose a first policy for servers, or for an agent's own tools", Args: cobra.MaximumNArgs(1),
		Long: initHelp,
	}
	var f checkFlags
	c.Flags().StringVar(&f.tools, "tools", "", "a recorded tool list (`file`), as tools/list gives it, in place of the servers' answers")
	yes := c.Flags().BoolP("yes", "y", false, "write without a question")
	tests := c.Flags().StringArray("test", nil, "with AGENT, a `command` that runs the tests; may be given several times")
	pipefail := c.Flags().Bool("pipefail", false, "with AGENT, let tests count whose output goes through a pipe: they run under set -o pipefail")
	c.RunE = func(c *cobra.Command, args []string) error {
		switch {
		case len(args) == 1 && f.tools != "":
			return usage("--tools is for the tools of servers: leave it out, or leave out %q", args[0])
		case len(args) == 1:
			return s.initAgent(c, args[0], *tests, *yes, *pipefail)
		case len(*tests) > 0:
			return usage("--test is for an agent: petrigate init claude-code --test 'npm test'")
		case *pipefail:
			return usage("--pipefail is for an agent: petrigate init claude-code --pipefail")
		}
		f.config, _ = c.Flags().GetString("config")
		r, err := s.configLoader(c)
		if err != nil {
			return err
		}
		cfg, err := r.load(r.options(f.config))
		if errors.Is(err, config.ErrNotFound) {
			err = fmt.Errorf("%w. %s", err, starter.NoConfiguration)
		}
		if err != nil {
			return err
		}
		f.live = f.tools == ""
		tools, missing, err := f.listedTools(c.Context(), s, cfg)
		if err != nil {
			return err
		}
		watch := newProgress(s.err)
		plan, err := starter.New(c.Context(), cfg, tools, missing, check.Effort{Now: time.Now, Report: func(spent time.Duration) {
			watch.update(func() string { return fmt.Sprintf("proving: %.0f s", spent.Seconds()) })
		}})
		watch.clear()
		if err != nil {
			return err
		}
		err = plan.Run(starter.Options{Out: s.out, Err: s.err, Yes: *yes, Ask: s.asker(c.Context())})
		r.renewTrust(plan.Config, plan.Before, plan.After)
		if err == nil && len(missing) > 0 {
			err = &exitError{exitUpstream, nil}
		}
		return err
	}
	return c
}
