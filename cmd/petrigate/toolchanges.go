package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/gate/toolnet"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/serve/control"
	"github.com/petrigate/petrigate/internal/serve/terminal"
	"github.com/petrigate/petrigate/internal/text"
)

func toolsDiff(s stdio) *cobra.Command {
	c := &cobra.Command{
		Use: "diff [TOOL]...", Short: "Show the tools whose definitions differ from the accepted ones",
		Long: "diff compares the current tool definitions of servers with the accepted ones: those first seen, or accepted by\n" +
			"a person since. Without names it shows all changed tools; a name may contain * as a wildcard. diff requires\n" +
			"pinning in the configuration.",
	}
	return answering(c, s, "changes", func(names []string) (any, func() error, error) {
		found, err := changedTools(names)
		changes := distinctChanges(found)
		return changes, func() error {
			proxies, err := askAll((*control.Client).Status)
			if err == nil && len(changes) == 0 && slices.ContainsFunc(proxies, func(p operator.Status) bool { return p.Pinning != "off" }) {
				_, err = fmt.Fprintln(s.out, "no tool has changed")
			}
			return errors.Join(err, terminal.PrintToolChanges(s.out, changes), terminal.PrintUnpinned(s.out, proxies))
		}, err
	})
}

func toolsAccept(s stdio) *cobra.Command {
	c := &cobra.Command{
		Use: "accept TOOL...", Short: "Accept the current definition of a tool", Args: cobra.MinimumNArgs(1),
		Long: "accept shows the changes of the tools, asks for confirmation at a terminal (otherwise it requires --yes), and\n" +
			"accepts the servers' current definitions at all running proxies, or at one. A name may contain * as a\n" +
			"wildcard. Each proxy with a PIN (approval.pin) asks for its own.",
	}
	yes := c.Flags().Bool("yes", false, "accept without confirmation")
	pid, pinIn := proxyFlag(c), pinFlag(c)
	c.RunE = func(c *cobra.Command, names []string) error {
		if !*yes && (!terminal.Is(s.in) || !terminal.Is(s.out)) {
			return usage("standard input is not a terminal: review the changes with petrigate tools diff, then pass --yes")
		}
		found, err := changedTools(names)
		if err == nil && *pid != 0 {
			found, err = ofProxy(found, *pid)
		}
		if err != nil {
			return err
		}
		changes := distinctChanges(found)
		if len(changes) == 0 {
			return fmt.Errorf("there is no change to accept for %s; petrigate tools diff lists the changes", text.And(text.EscapeAll(names)))
		}
		if !*yes {
			if err := terminal.PrintToolChanges(s.out, changes); err != nil {
				return err
			}
			agreed, err := terminal.Agree(c.Context(), s.in, s.out, "Accept this?")
			if err != nil {
				return err
			}
			if !agreed {
				return errors.New("nothing was accepted")
			}
		}
		typed, err := promptPINs(c.Context(), s, *pinIn, clientsOf(found))
		if err != nil {
			return err
		}
		accepted, err := acceptAll(found, typed)
		for _, change := range distinctChanges(accepted) {
			_, _ = fmt.Fprintf(s.out, "%s is accepted as its server describes it now.\n", text.Escape(change.Canonical))
		}
		return err
	}
	return c
}

// acceptAll makes each proxy accept the changed tools that it reported, and returns the accepted
// changes. After an error, it skips the proxy's other changes, so that a wrong PIN counts as only
// one failed attempt. It continues with the other proxies.
func acceptAll(found []ownedItem[operator.ToolChange], typed map[string]string) (accepted []ownedItem[operator.ToolChange], err error) {
	refused := map[string]bool{}
	var failed []error
	for _, o := range found {
		if refused[o.client.Path] {
			continue
		}
		order := control.Accept{Canonical: o.it.Canonical, Hash: o.it.Hash, Actor: actor(), PIN: typed[o.client.Path]}
		if err := o.client.AcceptTool(order); err != nil {
			refused[o.client.Path], failed = true, append(failed, err)
			continue
		}
		accepted = append(accepted, o)
	}
	return accepted, errors.Join(failed...)
}

// changedTools returns those tools on running proxies whose current definition has not been
// accepted. If names is not empty, it returns only the tools that match any of the names.
func changedTools(names []string) ([]ownedItem[operator.ToolChange], error) {
	all, err := gather((*control.Client).ToolChanges)
	return slices.DeleteFunc(all, func(o ownedItem[operator.ToolChange]) bool {
		return len(names) > 0 && !slices.ContainsFunc(names, func(name string) bool {
			return name == o.it.Canonical || name == o.it.Exposed || toolnet.MatchGlob(name, o.it.Canonical)
		})
	}), err
}

// ofProxy returns the changes reported by the proxy with the given process ID or, if pid is 0, by
// the only proxy that reported any. If it cannot select exactly one proxy, it returns an error.
func ofProxy(found []ownedItem[operator.ToolChange], pid int) ([]ownedItem[operator.ToolChange], error) {
	having := uniqueBy(slices.Clone(found), func(o ownedItem[operator.ToolChange]) string { return o.client.Path })
	one, err := selectProxy(clientsOf(having), pid, "such a change")
	return slices.DeleteFunc(found, func(o ownedItem[operator.ToolChange]) bool { return err == nil && o.client.Path != one.Path }), err
}

// distinctChanges removes duplicates, which occur if several proxies report the same change.
func distinctChanges(found []ownedItem[operator.ToolChange]) []operator.ToolChange {
	distinct := uniqueBy(slices.Clone(found), func(o ownedItem[operator.ToolChange]) string { return o.it.Canonical + " " + o.it.Hash })
	return append([]operator.ToolChange{}, list.Map(distinct, func(o ownedItem[operator.ToolChange]) operator.ToolChange { return o.it })...)
}
