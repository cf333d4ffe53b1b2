package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/text"
)

// strictUsage makes c and its subcommands check their flags and arguments. If they are wrong, the
// program explains the correct usage and exits with the code for usage errors.
func strictUsage(c *cobra.Command) {
	c.SetFlagErrorFunc(wrongFlag)
	if c.HasSubCommands() {
		c.Args = refuseUnknownVerb
	} else if args := c.Args; args != nil {
		c.Args = func(c *cobra.Command, got []string) error {
			if args(c, got) == nil {
				return nil
			}
			if len(got) > 0 && !strings.Contains(strings.TrimPrefix(c.Use, c.Name()), " ") {
				return usage("petrigate %s takes no arguments, not %q; see %s --help", verb(c), got[0], c.CommandPath())
			}
			if c.Flags().Lookup("args") != nil && slices.ContainsFunc(got, func(a string) bool { return strings.HasPrefix(a, "{") }) {
				return usage("pass the arguments of a call with --args: petrigate %s %s --args '{...}'", verb(c), got[0])
			}
			return usage("wrong number of arguments (%d); usage: %s", len(got), c.UseLine())
		}
	}
	for _, sub := range c.Commands() {
		strictUsage(sub)
	}
}

// verb returns the path of the command c without the program name.
func verb(c *cobra.Command) string { return strings.TrimPrefix(c.CommandPath(), "petrigate ") }

// refuseUnknownVerb returns an error if the first argument is not a subcommand of the command c.
func refuseUnknownVerb(c *cobra.Command, got []string) error {
	if len(got) == 0 {
		return nil
	}
	shown := list.Filter(c.Commands(), func(sub *cobra.Command) bool { return sub.IsAvailableCommand() || sub.Name() == "help" })
	known := list.Map(shown, (*cobra.Command).Name)
	return usage("%s has no verb %q%s; see %s --help", c.CommandPath(), got[0], text.DidYouMean(got[0], "", known), c.CommandPath())
}

// wrongFlag returns an error that explains that a flag is unknown or that its value is invalid.
func wrongFlag(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return usage("%w; see %s --help", err, c.CommandPath())
	}
	var known []string
	c.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
	hint := text.DidYouMean(unknown.GetSpecifiedName(), "--", known)
	if c.Name() == "wrap" && hint == "" {
		hint = " (the server's command and its flags follow --)"
	}
	return usage("%w%s; see %s --help", err, hint, c.CommandPath())
}

// newHelp returns the command that prints the help for another command or a help topic.
func newHelp(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use: "help [verb]", Short: "Print the help of a verb, or of a topic",
		RunE: func(_ *cobra.Command, args []string) error {
			c, rest, err := root.Find(args)
			if err == nil && len(rest) > 0 {
				err = refuseUnknownVerb(c, rest)
			}
			if err != nil {
				return err
			}
			c.InitDefaultHelpFlag()
			c.InitDefaultVersionFlag()
			return c.Help()
		},
	}
}

func requireSubcommand(c *cobra.Command, _ []string) error {
	names := list.Map(c.Commands(), (*cobra.Command).Name)
	return usage("%s requires one of: %s", c.CommandPath(), strings.Join(names, ", "))
}
