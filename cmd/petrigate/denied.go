package main

import (
	"fmt"
	"io"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/internal/takeover"
)

// denyTools is the name of a flag. Scripts set the flag to confirm that the policy should refuse
// agents' built-in tools.
const denyTools = "deny-tools"

// acceptDenied checks whether the policy, once enforced, would refuse built-in agent tools just
// because no rule names them. If so, it prints a warning, and returns an error unless accepted is
// true or the user agrees. If ask is nil, the user cannot be asked.
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

// hookedAgents returns the agents that run petrigate as a hook for this user, so that the
// configuration controls their built-in tools. If it finds no such agent, it returns the agents
// that may send hook events over the network.
func hookedAgents(d *takeover.Driver, c *config.Config) []string {
	if agents, _ := d.HookedAgents(); len(agents) > 0 {
		return agents
	}
	return check.Listened(c)
}
