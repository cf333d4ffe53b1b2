package main

import (
	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
	"github.com/petrigate/petrigate/internal/serve/daemon"
	"github.com/petrigate/petrigate/internal/serve/shadow"
)

func newEnforce(s stdio) *cobra.Command {
	c := &cobra.Command{
		Use: "enforce", Short: "Enforce the policy that was in shadow", Args: cobra.NoArgs,
		Long: "enforce ends the shadow of a configuration: what its policy would refuse is refused from then on. It shows\n" +
			"what the policy in shadow would have refused so far, by the record or by the proxies that run, and what\n" +
			"changes in the file: mode: shadow becomes mode: enforce. Then it asks, writes, and has the running proxies\n" +
			"of this configuration read it again. Rules and nets that are in shadow by themselves stay so.",
	}
	yes := c.Flags().Bool("yes", false, "write without a question")
	deny := c.Flags().Bool(denyTools, false, "go on although the policy refuses agents' own tools that no rule names")
	c.RunE = func(c *cobra.Command, _ []string) error {
		file, _ := c.Flags().GetString("config")
		r, err := s.configLoader(c)
		if err != nil {
			return err
		}
		cfg, err := r.load(r.options(file))
		if err != nil {
			return err
		}
		ask := s.asker(c.Context())
		if d, failed := (&deskFlags{}).desk(c.Context(), s); failed == nil && cfg.Mode == "shadow" {
			if err := acceptDenied(s.err, cfg, hookedAgents(d, cfg), *deny, ask); err != nil {
				return err
			}
		}
		watch := newProgress(s.err)
		return shadow.Enforce(c.Context(), cfg, shadow.Options{
			Out: s.out, Err: s.err, Yes: *yes, Ask: ask, Actor: actor(), Runtime: daemon.RuntimeDir(),
			Reading: func(records int) {
				watch.update(func() string { return "reading the record: " + trail.Records(uint64(records)) })
			},
			Read: watch.clear, Written: r.renewTrust,
		})
	}
	return c
}
