package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/gate/toolnet"
	"github.com/petrigate/petrigate/internal/serve/control"
	"github.com/petrigate/petrigate/internal/serve/terminal"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy"
)

func toolsDiff(s stdio) *cobra.Command {
	c := &cobra.Command{
		Use: "diff [TOOL]...", Short: "Show the tools of which a server says something else than what was accepted",
		Long: "diff shows what servers say of their tools now, beside what was accepted: at first sight, or by a person since.\n" +
			"Without names it shows all such tools; a name may have a * for anything. It needs pinning in the configuration.",
	}
	return answering(c, s, "changes", func(names []string) (any, func() error, error) {
		found, err := changedTools(names)
		changes := differing(found)
		return changes, func() error {
			proxies, err := ask((*control.Client).Status)
			if err == nil && len(changes) == 0 && slices.ContainsFunc(proxies, func(p proxy.Status) bool { return p.Pinning != "off" }) {
				_, err = fmt.Fprintln(s.out, "every tool is as it was accepted")
			}
			return errors.Join(err, terminal.PrintToolChanges(s.out, changes), terminal.PrintUnpinned(s.out, proxies))
		}, err
	})
}

func toolsAccept(s stdio) *cobra.Command {
	c := &cobra.Command{
		Use: "accept TOOL...", Short: "Accept what a server says of a tool now", Args: cobra.MinimumNArgs(1),
		Long: "accept shows what has changed of the tools, asks once more at a terminal (elsewhere it requires --yes), and\n" +
			"accepts what the servers say now, at all running proxies. A name may have a * for anything.",
	}
	yes := c.Flags().Bool("yes", false, "accept without being asked once more")
	pinIn := pinFlag(c)
	c.RunE = func(c *cobra.Command, names []string) error {
		if !*yes && (!isTerminal(s.in) || !isTerminal(s.out)) {
			return usage("accept asks once more at a terminal, and this is none; use petrigate tools diff to see the changes, and --yes to accept them")
		}
		found, err := changedTools(names)
		if err != nil {
			return err
		}
		changes := differing(found)
		if len(changes) == 0 {
			return fmt.Errorf("there is no change of %s to accept; petrigate tools diff lists what has changed", text.And(text.EscapeAll(names)))
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
				return errors.New("nothing is accepted")
			}
		}
		var having []*control.Client
		for _, o := range found {
			having = append(having, o.client)
		}
		typed, err := neededPIN(c.Context(), s, *pinIn, having...)
		if err != nil {
			return err
		}
		for _, o := range found {
			if err := o.client.AcceptTool(control.Accept{Canonical: o.it.Canonical, Hash: o.it.Hash, Actor: actor(), PIN: typed}); err != nil {
				return err
			}
		}
		for _, change := range changes {
			if _, err := fmt.Fprintf(s.out, "%s is accepted as its server describes it now.\n", text.Escape(change.Canonical)); err != nil {
				return err
			}
		}
		return nil
	}
	return c
}

// changedTools are the tools of running proxies whose definition is not accepted, and whose
// name is one of these, or all.
func changedTools(names []string) ([]owned[proxy.ToolChange], error) {
	all, err := gather((*control.Client).ToolChanges)
	return slices.DeleteFunc(all, func(o owned[proxy.ToolChange]) bool {
		return len(names) > 0 && !slices.ContainsFunc(names, func(name string) bool {
			return name == o.it.Canonical || name == o.it.Exposed || toolnet.MatchGlob(name, o.it.Canonical)
		})
	}), err
}

// differing drops what several proxies say alike.
func differing(found []owned[proxy.ToolChange]) []proxy.ToolChange {
	changes := []proxy.ToolChange{}
	for _, o := range once(slices.Clone(found), func(o owned[proxy.ToolChange]) string { return o.it.Canonical + " " + o.it.Hash }) {
		changes = append(changes, o.it)
	}
	return changes
}
