package main

import (
	"fmt"
	"io"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/internal/takeover"
)

// denyTools is the flag for scripts that accept that the built-in tools of agents are refused.
const denyTools = "deny-tools"

// acceptDenied warns if the configuration, once enforced, refuses built-in tools of agents that no
// rule names. It continues only if accepted is set or a person agrees; ask is nil if no person can
// be asked.
func acceptDenied(out io.Writer, c *config.Config, agents []string, accepted bool, ask func(string) (bool, error)) error {
	denied := check.Denied(c, agents)
	if len(denied) == 0 {
		return nil
	}
	printProblems(out, denied)
	switch {
	case accepted:
		return nil
	case ask == nil:
		return usage("nothing was written; to refuse the agents' own tools, pass --%s", denyTools)
	}
	_, _ = fmt.Fprintln(out)
	yes, err := ask("Continue? The enforced policy will refuse these tools.")
	if err == nil && !yes {
		err = takeover.ErrDeclined
	}
	return err
}

// hookedAgents returns the agents whose built-in tools the configuration decides on, as far as this
// machine knows: the agents of this user that have petrigate as their hook, or else those that may
// connect over the network.
func hookedAgents(d *takeover.Driver, c *config.Config) []string {
	if agents, _ := d.HookedAgents(); len(agents) > 0 {
		return agents
	}
	return check.Listened(c)
}
