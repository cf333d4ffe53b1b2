package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/internal/policy/simulate"
	"github.com/petrigate/petrigate/internal/serve/terminal"
	"github.com/petrigate/petrigate/internal/text"
)

func newSimulate(s stdio) *cobra.Command {
	c := &cobra.Command{
		Use:   "simulate [FILE...]",
		Short: "Step through a policy interactively with simulated calls",
		Long: "simulate reads one command per line and shows the state of the nets after each. It starts no server. It works\n" +
			"at a terminal and in a pipe. --record writes the session to a file for petrigate test.\n" + simulate.Help,
	}
	var f policyFlags
	f.add(c, "take")
	record := c.Flags().String("record", "", "write the session as a policy test to this new `file`")
	c.RunE = func(c *cobra.Command, files []string) error {
		if err := f.parse(s, c, files); err != nil {
			return err
		}
		if *record != "" {
			if _, err := os.Lstat(*record); err == nil {
				return fmt.Errorf("recording to %s: the file exists", *record)
			}
		}
		st, err := f.open()
		if err != nil {
			return err
		}
		interactive := terminal.Is(s.in) && terminal.Is(s.out)
		sim := simulate.NewSimulator(st, s.out, newInk(s.out), interactive)
		if err := sim.Run(c.Context(), s.in); err != nil {
			return err
		}
		if *record != "" {
			if err := sim.Record(*record, f.rules, f.nets); err != nil {
				return fmt.Errorf("recording to %s: %w", *record, text.Innermost(err))
			}
		}
		if sim.Mistakes > 0 && !interactive {
			return fmt.Errorf("%s failed", text.Count(sim.Mistakes, "command"))
		}
		return nil
	}
	return c
}
