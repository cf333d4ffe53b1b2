package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/internal/policy/starter"
	"github.com/petrigate/petrigate/internal/text"
)

// initAgent proposes a policy for an agent's built-in tools.
func (s stdio) initAgent(c *cobra.Command, name string, tests []string, yes, pipefail bool) error {
	agent, ok := starter.AgentOf(name)
	if !ok {
		return usage("unknown agent %q; petrigate can propose a policy for %s", name, text.And(agentClients()))
	}
	for _, t := range tests {
		if !starter.PlainCommand(t) {
			return usage("--test %q must be a single plain command without quotes, pipes or lists", t)
		}
	}
	r, err := s.configLoader(c)
	if err != nil {
		return err
	}
	cfg, file, err := r.loadOrMake()
	if err != nil {
		return err
	}
	ask := s.asker(c.Context())
	if len(tests) == 0 {
		if tests, err = s.findTests(agent, yes, ask); err != nil {
			return err
		}
	}
	watch := newProgress(s.err)
	plan, err := starter.NewAgent(c.Context(), file, cfg, agent, tests, check.Effort{Now: time.Now, Report: func(spent time.Duration) {
		watch.update(func() string { return fmt.Sprintf("proving: %.0f s", spent.Seconds()) })
	}})
	watch.clear()
	if err != nil {
		return err
	}
	if err := offerPipefail(plan, agent, tests, pipefail, yes, ask); err != nil {
		return err
	}
	err = plan.Run(starter.Options{Out: s.out, Err: s.err, Yes: yes, Ask: ask})
	if cfg != nil {
		r.renewTrust(plan.Config, plan.Before, plan.After)
	}
	return err
}

// offerPipefail makes the plan prefix scripts with "set -o pipefail" if wanted is true or the user
// agrees. Without the prefix, a test command in a pipe seems to succeed even if tests fail. The
// user is not asked if yes is true or ask is nil. If wanted is true but the prefix would have no
// effect, offerPipefail returns an error.
func offerPipefail(plan *starter.Plan, a starter.Agent, tests []string, wanted, yes bool, ask func(string) (bool, error)) (err error) {
	switch {
	case !plan.OffersPipefail():
		if wanted {
			return usage("--pipefail has no effect here: no test command was found, %s's hooks cannot change a script, or the configuration already has a policy or the key shell", a.Title)
		}
		return nil
	case !wanted && !yes && ask != nil:
		wanted, err = ask(fmt.Sprintf("A pipe, as in \"%s | tail\", hides whether the tests failed. Prefix such scripts with `set -o pipefail; ` in %s, so that they count?", tests[0], a.Title))
	}
	if err != nil || !wanted {
		return err
	}
	return plan.AddPipefail()
}

// loadOrMake loads the configuration and returns the path of its file. If no configuration exists
// yet, cfg is nil and file is the path of the file to create.
func (r configLoader) loadOrMake() (cfg *config.Config, file string, err error) {
	file, _, err = config.Lookup(r.options())
	if errors.Is(err, config.ErrNotFound) {
		if file = config.UserFile(config.Options{}); file == "" {
			return nil, "", err
		}
	}
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return nil, file, nil
	}
	cfg, err = r.load(r.options())
	return cfg, file, err
}

// findTests looks in the working directory for commands that run the project's tests. At a
// terminal, it asks the user which of these commands count as tests.
func (s stdio) findTests(a starter.Agent, yes bool, ask func(string) (bool, error)) (tests []string, err error) {
	for _, t := range starter.TestCommands(".") {
		if ask != nil && !yes {
			counts, err := ask(fmt.Sprintf("%s: %q seems to run the tests. Count it as a test run?", t.From, t.Command))
			if err != nil {
				return nil, err
			}
			if !counts {
				continue
			}
		} else {
			_, _ = fmt.Fprintf(s.err, "%s: %q seems to run the tests.\n", t.From, t.Command)
		}
		tests = append(tests, t.Command)
	}
	if len(tests) == 0 {
		_, _ = fmt.Fprintf(s.err, "No test command was found, so every push requires approval. Name one: petrigate init %s --test 'npm test'\n", a.Client)
	}
	return tests, nil
}

// agentClients returns the agent names that petrigate init and petrigate connect accept.
func agentClients() []string {
	return list.Map(starter.Agents(), func(a starter.Agent) string { return a.Client })
}

// agentWords completes the agent names that petrigate init accepts.
func agentWords(*cobra.Command) []cobra.Completion {
	return list.Map(starter.Agents(), func(a starter.Agent) cobra.Completion { return cobra.CompletionWithDesc(a.Client, a.Title) })
}
