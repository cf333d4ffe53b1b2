package main

import (
	"context"
	"fmt"
	"io"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/internal/takeover"
)

// denyTools is the flag by which a script accepts that agents' own tools are refused.
const denyTools = "deny-tools"

// acceptDenied warns where the configuration, once it is enforced, refuses own tools of agents that no rule names, and
// continues only if a person agrees or a flag is given.
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
		return usage("nothing was written: --%s accepts that the agents' own tools are refused", denyTools)
	}
	_, _ = fmt.Fprintln(out)
	yes, err := ask("Go on, and have these tools refused once the policy is enforced?")
	if err == nil && !yes {
		err = takeover.ErrDeclined
	}
	return err
}

// agents are those whose own tools check looks at: it reads the files of agents with --live alone.
func (f checkFlags) agents(ctx context.Context, s stdio, c *config.Config) []string {
	if d, err := (&deskFlags{}).desk(ctx, s); err == nil && f.live {
		return hookedAgents(d, c)
	}
	return check.Listened(c)
}

// hookedAgents are the agents whose own tools a configuration decides on, as far as is known here: those of this user that
// have petrigate as their hook, or those that may come over the network.
func hookedAgents(d *takeover.Desk, c *config.Config) []string {
	if agents, _ := d.HookedAgents(); len(agents) > 0 {
		return agents
	}
	return check.Listened(c)
}
