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

func newInit(s stdio) *cobra.Command {
	c := &cobra.Command{
		Use: "init", Short: "Propose a first policy for the servers of a configuration", Args: cobra.NoArgs,
		Long: "init asks the servers of the configuration for their tools and proposes rules: what only reads passes, a\n" +
			"person is asked about what cannot be taken back, edits need a look, and limits end what runs away. It guesses\n" +
			"from names, hints, schemas and a list of well-known servers, explains each rule in a comment, adds claims\n" +
			"and proves them. The policy begins in shadow: it refuses nothing and records what it would refuse.\n\n" +
			"It prints the rules, and writes them only with --yes, or after a question at a terminal: " + starter.FileName + "\n" +
			"beside the configuration, and the missing keys into it. What is there already is never overwritten.\n\n" +
			"A server that does not answer is left out, and the file says so: init ends with exit code 7 then. Run it again\n" +
			"once the server answers, and it prints what to add.",
	}
	var f checkFlags
	c.Flags().StringVar(&f.tools, "tools", "", "a recorded tool list (`file`), as tools/list gives it, in place of the servers' answers")
	yes := c.Flags().BoolP("yes", "y", false, "write without a question")
	c.RunE = func(c *cobra.Command, _ []string) error {
		f.config, _ = c.Flags().GetString("config")
		r, err := s.reading(c)
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
			watch.say(func() string { return fmt.Sprintf("proving: %.0f s", spent.Seconds()) })
		}})
		watch.clear()
		if err != nil {
			return err
		}
		err = plan.Run(starter.Options{Out: s.out, Err: s.err, Yes: *yes, Ask: s.asker(c.Context())})
		r.renew(plan.Config, plan.Before, plan.After)
		if err == nil && len(missing) > 0 {
			err = &exit{exitUpstream, nil}
		}
		return err
	}
	return c
}
