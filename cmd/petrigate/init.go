package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/internal/policy/starter"
	"github.com/petrigate/petrigate/internal/runtime/hook"
	"github.com/petrigate/petrigate/internal/text"
)

var initHelp = "init asks the configured servers for their tools and proposes rules: calls that only read pass, irreversible\n" +
	"calls require approval, edits require a prior read, and limits stop runaway agents. It guesses from names,\n" +
	"hints, schemas and a list of well-known servers, explains each rule in a comment, adds claims and proves them.\n" +
	"The policy starts in shadow mode: it refuses nothing and records what it would refuse.\n" +
	"\n" +
	"init prints the rules. It writes them only with --yes or after confirmation at a terminal: the rules to\n" +
	starter.FileName + " beside the configuration, and missing keys into the configuration. It never\n" +
	"overwrites existing content.\n" +
	"\n" +
	"If a server does not answer, init leaves it out, notes that in the file and exits with code 7. Run init\n" +
	"again once the server answers; it then prints what to add.\n" +
	"\n" +
	"With an AGENT (" + text.Join(hook.Names(), "or") + ") the policy covers the agent's own tools: a\n" +
	"push requires tests since the last change, and a person must approve permanent deletions, forced pushes,\n" +
	"publishing, deployments and access to key files. init looks for the test command in package.json, go.mod,\n" +
	"Cargo.toml, pyproject.toml and the Makefile of the current folder; --test names another. With --pipefail,\n" +
	"tests whose output goes through a pipe count too. If there is no configuration, init creates the user's\n" +
	"configuration."

func newInit(s stdio) *cobra.Command {
	c := &cobra.Command{
		Use: "init [AGENT]", Short: "Propose a first policy for servers, or for an agent's own tools", Args: cobra.MaximumNArgs(1),
		Long: initHelp,
	}
	var f checkFlags
	c.Flags().StringVar(&f.tools, "tools", "", "use this recorded tool list (`file`, a response to tools/list) instead of asking the servers")
	yes := c.Flags().BoolP("yes", "y", false, "write without confirmation")
	tests := c.Flags().StringArray("test", nil, "with AGENT, a `command` that runs the tests; may be given more than once")
	pipefail := c.Flags().Bool("pipefail", false, "with AGENT, count tests whose output goes through a pipe; they run under set -o pipefail")
	c.RunE = func(c *cobra.Command, args []string) error {
		switch {
		case len(args) == 1 && f.tools != "":
			return usage("--tools applies to servers, not to agents: omit it, or omit %q", args[0])
		case len(args) == 1:
			return s.initAgent(c, args[0], *tests, *yes, *pipefail)
		case len(*tests) > 0:
			return usage("--test requires an agent: petrigate init claude-code --test 'npm test'")
		case *pipefail:
			return usage("--pipefail requires an agent: petrigate init claude-code --pipefail")
		}
		r, err := s.configLoader(c)
		if err != nil {
			return err
		}
		cfg, err := r.load(r.options())
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
