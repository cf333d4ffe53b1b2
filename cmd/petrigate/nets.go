package main

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/internal/serve/control"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy"
)

func newNets(s stdio) *cobra.Command {
	return group("nets", "Show the nets of running proxies, and switch them on or off",
		netsList(s), netsSwitch(s, true), netsSwitch(s, false))
}

func netsList(s stdio) *cobra.Command {
	c := &cobra.Command{Use: "ls", Short: "List the nets", Args: cobra.NoArgs}
	asJSON := c.Flags().Bool("json", false, "print JSON")
	c.RunE = func(*cobra.Command, []string) error {
		found, err := running()
		if err != nil {
			return err
		}
		all := []runningNet{}
		var rows [][]string
		for _, client := range found {
			status, err := client.Status()
			if err != nil {
				return err
			}
			nets, err := client.Nets()
			if err != nil {
				return err
			}
			for _, n := range nets {
				all = append(all, runningNet{n, status.Pid})
				rows = append(rows, []string{n.Name, netState(n), n.Scope, n.Rule, strconv.Itoa(status.Pid)})
			}
		}
		if *asJSON {
			return printAnswer(s.out, "nets", all)
		}
		return tableOf(s.out, len(found), "no nets", "NET|STATE|SCOPE|RULE", rows)
	}
	return c
}

// A runningNet is a net with the process that has it.
type runningNet struct {
	proxy.PolicyNet
	Pid int `json:"pid"`
}

func netState(n proxy.PolicyNet) string {
	switch {
	case !n.Active:
		return "off"
	case n.Shadow:
		return "shadow"
	default:
		return "active"
	}
}

func netsSwitch(s stdio, on bool) *cobra.Command {
	c := &cobra.Command{Args: cobra.ExactArgs(1)}
	done := "is off: it takes no part in decisions, of sessions that begin later neither, and keeps its state"
	if on {
		c.Use, c.Short = "activate NET", "Let a net take part in decisions again"
		c.Long = "activate lets a net take part in decisions again, in all sessions of the running proxy that has it.\n" +
			"It goes on from where it was switched off: what was earned by then counts again."
		done = "is active: it goes on from where it was switched off, and what was earned by then counts again"
	} else {
		c.Use, c.Short = "deactivate NET", "Take a net out of decisions"
		c.Long = "deactivate takes a net out of decisions, in all sessions of the running proxy that has it. Its state is\n" +
			"kept. What was proved of the policy does not hold without it."
	}
	pid := c.Flags().Int("proxy", 0, "of the proxy with this process `id` alone, as status shows it")
	c.RunE = func(_ *cobra.Command, args []string) error {
		having, err := proxiesWith(args[0])
		if err != nil {
			return err
		}
		client, err := theProxy(having, *pid, fmt.Sprintf("a net %q", args[0]))
		if err != nil {
			return err
		}
		if err := client.SwitchNet(control.Switch{Net: args[0], Active: on, Actor: actor()}); err != nil {
			return err
		}
		_, err = fmt.Fprintf(s.out, "%s %s\n", args[0], done)
		return err
	}
	return c
}

// proxiesWith are the running proxies whose policy has a net of this name.
func proxiesWith(name string) ([]*control.Client, error) {
	found, err := running()
	if err != nil {
		return nil, err
	}
	var having []*control.Client
	var known []string
	for _, client := range found {
		nets, err := client.Nets()
		if err != nil {
			return nil, err
		}
		for _, n := range nets {
			known = append(known, n.Name)
			if n.Name == name {
				having = append(having, client)
			}
		}
	}
	if len(having) > 0 {
		return having, nil
	}
	slices.Sort(known)
	return nil, fmt.Errorf("no running proxy has a net %q%s; petrigate nets ls lists them", name, text.DidYouMean(name, "", slices.Compact(known)))
}
