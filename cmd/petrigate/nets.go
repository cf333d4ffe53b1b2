package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/serve/control"
	"github.com/petrigate/petrigate/internal/text"
)

func newNets(s stdio) *cobra.Command {
	return group("nets", "List, enable and disable the nets of running proxies",
		netsList(s), netsSwitch(s, true), netsSwitch(s, false))
}

// A runningNet is a net in the policy of a running proxy, together with the process ID of the
// proxy.
type runningNet struct {
	operator.PolicyNet
	Pid int `json:"pid"`
}

func netsList(s stdio) *cobra.Command {
	c := &cobra.Command{Use: "ls", Short: "List the nets", Args: cobra.NoArgs}
	return answering(c, s, "nets", func([]string) (any, func() error, error) {
		lists, err := listings((*control.Client).Nets)
		all := []runningNet{}
		for _, of := range lists {
			for _, n := range of.all {
				all = append(all, runningNet{n, of.pid})
			}
		}
		return all, func() error {
			return printListings(s.out, lists, "no nets", "NET|STATE|SCOPE|RULE", func(n operator.PolicyNet) []string {
				return []string{n.Name, netState(n), n.Scope, n.Rule}
			})
		}, err
	})
}

func netState(n operator.PolicyNet) string {
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
	done := "is inactive: it does not take part in decisions, including those of later sessions, and keeps its state"
	if on {
		c.Use, c.Short = "activate NET", "Enable a net"
		c.Long = "activate enables a net again for all sessions of the running proxy that has it. The net continues from its\n" +
			"state at deactivation; evidence from before counts again."
		done = "is active: it continues from its state at deactivation, and evidence from before counts again"
	} else {
		c.Use, c.Short = "deactivate NET", "Disable a net"
		c.Long = "deactivate disables a net for all sessions of the running proxy that has it. The net keeps its state. Claims\n" +
			"proved about the policy can fail without it."
	}
	pid, pinIn := proxyFlag(c), new(bool)
	if on {
		pinIn = pinFlag(c)
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		having, err := proxiesWith(args[0])
		if err != nil {
			return err
		}
		client, err := selectProxy(having, *pid, fmt.Sprintf("a net %q", args[0]))
		if err != nil {
			return err
		}
		order := control.Switch{Net: args[0], Active: on, Actor: actor()}
		if on {
			if order.PIN, err = promptPIN(c.Context(), s, *pinIn, client); err != nil {
				return err
			}
		}
		if err := client.SwitchNet(order); err != nil {
			return err
		}
		_, err = fmt.Fprintf(s.out, "%s %s\n", args[0], done)
		return err
	}
	return c
}

// proxiesWith returns clients for the running proxies whose policy contains a net with the given
// name.
func proxiesWith(name string) ([]*control.Client, error) {
	nets, err := gather((*control.Client).Nets)
	if err != nil {
		return nil, err
	}
	having := list.Filter(nets, func(n ownedItem[operator.PolicyNet]) bool { return n.it.Name == name })
	if len(having) > 0 {
		return clientsOf(having), nil
	}
	known := list.Map(nets, func(n ownedItem[operator.PolicyNet]) string { return n.it.Name })
	slices.Sort(known)
	return nil, fmt.Errorf("no running proxy has a net %q%s; petrigate nets ls lists them", name, text.DidYouMean(name, "", slices.Compact(known)))
}
