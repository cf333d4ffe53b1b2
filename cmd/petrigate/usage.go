package main

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/petrigate/petrigate/internal/text"
)

// strictUsage makes wrong usage of c and the commands below it an error that states the correct
// usage and has the exit code for usage errors.
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
				return usage("the arguments of a call stand behind --args: petrigate %s %s --args '{...}'", verb(c), got[0])
			}
			return usage("wrong number of arguments (%d); usage: %s", len(got), c.UseLine())
		}
	}
	for _, sub := range c.Commands() {
		strictUsage(sub)
	}
}

func usage(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, args...)}
}

// verb returns the command path of c without the program name.
func verb(c *cobra.Command) string { return strings.TrimPrefix(c.CommandPath(), "petrigate ") }

// refuseUnknownVerb refuses an argument that is not a subcommand of c.
func refuseUnknownVerb(c *cobra.Command, got []string) error {
	if len(got) == 0 {
		return nil
	}
	var known []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() || sub.Name() == "help" {
			known = append(known, sub.Name())
		}
	}
	return usage("%s has no verb %q%s; see %s --help", c.CommandPath(), got[0], text.DidYouMean(got[0], "", known), c.CommandPath())
}

// wrongFlag explains an unknown flag, or an invalid value of a flag.
func wrongFlag(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return usage("%w; see %s --help", err, c.CommandPath())
	}
	var known []string
	c.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
	hint := text.DidYouMean(unknown.GetSpecifiedName(), "--", known)
	if c.Name() == "wrap" && hint == "" {
		hint = " (flags of the server stand behind --, as its command does)"
	}
	return usage("%w%s; see %s --help", err, hint, c.CommandPath())
}

// newHelp returns the command that prints the help of another command or of a topic.
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

// A choice is the value of a flag with a fixed set of values.
type choice struct {
	value string
	among []string
}

func (f *choice) String() string { return f.value }
func (f *choice) Type() string   { return strings.Join(f.among, "|") }

func (f *choice) Set(value string) error {
	if !slices.Contains(f.among, value) {
		return fmt.Errorf("write %s", strings.Join(f.among, " or "))
	}
	f.value = value
	return nil
}

// choose adds a flag whose value must be one of among.
func choose(flags *pflag.FlagSet, name, value, what string, among ...string) *string {
	f := &choice{value, among}
	flags.Var(f, name, what)
	return &f.value
}

// An address is the value of a flag for a listen address.
type address string

func (f *address) String() string { return string(*f) }
func (f *address) Type() string   { return "host:port" }

func (f *address) Set(value string) error {
	_, port, err := net.SplitHostPort(value)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return errors.New("write host:port, as 127.0.0.1:7777")
	}
	*f = address(value)
	return nil
}
