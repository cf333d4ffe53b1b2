package main

import (
	"fmt"
	"io"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/internal/takeover"
)

// denyTools is the name of a flag. Scripts set it to accept that agents' built-in tools will be
// refused.
const denyTools = "deny-tools"

// acceptDenied warns if the enforced configuration would refuse built-in agent tools because no
// rule names them. In this case, it returns nil only if accepted is true or the user agrees. ask is
// nil if the user cannot be asked.
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

// hookedAgents returns the agents whose built-in tools the configuration controls. These are the
// agents that run petrigate as a hook for this user. If no agent does, they are the agents that may
// send hook events over the network.
func hookedAgents(d *takeover.Driver, c *config.Config) []string {
	if agents, _ := d.HookedAgents(); len(agents) > 0 {
		return agents
	}
	return check.Listened(c)
}
