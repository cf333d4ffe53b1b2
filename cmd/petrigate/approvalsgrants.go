package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/serve/control"
	"github.com/petrigate/petrigate/internal/serve/terminal"
	"github.com/petrigate/petrigate/internal/text"
)

func grantID(g operator.GrantInfo) string { return g.ID }

func approvalsGrants(s stdio) *cobra.Command {
	c := &cobra.Command{Use: "grants", Short: "List the grants that let calls pass without a question", Args: cobra.NoArgs}
	return answering(c, s, "grants", func([]string) (any, func() error, error) {
		lists, err := askAll((*control.Client).Grants)
		all := uniqueBy(append([]operator.GrantInfo{}, slices.Concat(lists...)...), grantID)
		return all, func() error {
			var rows [][]string
			for _, g := range all {
				rows = append(rows, []string{
					g.ID, remaining(g), fmt.Sprint(g.Uses), text.Excerpt(g.Actor, 40), text.Caller(g.Principal, g.Client, 30), g.Session,
					text.Excerpt(g.Upstream+"."+g.Tool, 80) + " " + sharedArguments(g),
				})
			}
			return text.Table(s.out, "no grants", "ID|LEFT|USES|GIVEN BY|TO|SESSION|CALLS", rows)
		}, err
	})
}

// remaining formats the remaining lifetime of the grant g.
func remaining(g operator.GrantInfo) string {
	if g.ToEnd {
		return "session, or " + terminal.FormatTimeLeft(g.Until)
	}
	return terminal.FormatTimeLeft(g.Until)
}

// sharedArguments describes the argument values that all calls allowed by the grant g must share.
func sharedArguments(g operator.GrantInfo) string {
	var pins []string
	for _, p := range g.Like {
		if p.Field == "" {
			return "with exactly " + terminal.Fit(p.Value, 160)
		}
		pins = append(pins, text.Excerpt(p.Field, 60)+" = "+terminal.Fit(p.Value, 80))
	}
	return "with " + strings.Join(pins, ", ")
}

func approvalsRevoke(s stdio) *cobra.Command {
	c := &cobra.Command{Use: "revoke ID", Short: "End a grant: the next call requires approval again", Args: cobra.ExactArgs(1)}
	c.RunE = func(_ *cobra.Command, args []string) error {
		found, err := pick("grant", "petrigate approvals grants", args[0], (*control.Client).Grants, grantID)
		if err != nil {
			return err
		}
		if err := found.client.Revoke(found.it.ID, control.Revoke{Actor: actor()}); err != nil {
			return err
		}
		_, err = fmt.Fprintf(s.out, "%s is revoked. The next call requires approval.\n", found.it.ID)
		return err
	}
	return c
}

// grantFlags holds the flags of commands that can create a grant.
type grantFlags struct {
	span span
	like []string
}

// A span is the value of the --for flag. It is a duration, or "session" for the rest of the
// session.
type span operator.Grant

func (s *span) String() string {
	switch {
	case s.Session:
		return "session"
	case s.For == 0:
		return ""
	}
	return s.For.String()
}

func (s *span) Type() string { return "time" }

// Set parses a duration or the word "session" and sets s to the result.
func (s *span) Set(word string) error {
	g, err := terminal.ReadSpan(word)
	*s = span(g)
	return err
}

func (f *grantFlags) add(c *cobra.Command) {
	c.Flags().Var(&f.span, "for", "also approve similar calls of the session for this `time`, at most 1h, or for the session")
	c.Flags().StringArrayVar(&f.like, "like", nil, "with --for: an `argument` that must stay the same, by name or path ($.a.b); default: all")
}

// grant returns the grant described by the flags, or nil if --for was not given.
func (f *grantFlags) grant(c *cobra.Command) (*operator.Grant, error) {
	switch {
	case !c.Flags().Changed("for") && len(f.like) > 0:
		return nil, usage("--like requires --for")
	case !c.Flags().Changed("for"):
		return nil, nil
	}
	g := operator.Grant(f.span)
	g.Like = f.like
	return &g, nil
}
