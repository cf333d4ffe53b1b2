package main

import (
	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
	"github.com/petrigate/petrigate/internal/serve/daemon"
	"github.com/petrigate/petrigate/internal/serve/shadow"
)

func newEnforce(s stdio) *cobra.Command {
	c := &cobra.Command{
		Use: "enforce", Short: "End shadow mode and enforce the policy", Args: cobra.NoArgs,
		Long: "enforce ends shadow mode for a configuration: from then on the policy refuses calls. It first shows what the\n" +
			"policy would have refused so far, from the audit log or from running proxies, and the change to the file:\n" +
			"mode: shadow becomes mode: enforce. After confirmation it writes the file and has the running proxies of this\n" +
			"configuration reload it. Rules and nets with their own shadow mode stay in shadow.",
	}
	yes := c.Flags().Bool("yes", false, "write without confirmation")
	deny := c.Flags().Bool(denyTools, false, "continue even if the policy would refuse the agents' built-in tools that no rule covers")
	c.RunE = func(c *cobra.Command, _ []string) error {
		r, err := s.configLoader(c)
		if err != nil {
			return err
		}
		cfg, err := r.load(r.options())
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
				watch.update(func() string { return "reading the audit log: " + trail.Records(uint64(records)) })
			},
			Read: watch.clear, Written: r.renewTrust,
		})
	}
	return c
}
