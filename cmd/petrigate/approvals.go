package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/serve/control"
	"github.com/petrigate/petrigate/internal/serve/daemon"
	"github.com/petrigate/petrigate/internal/serve/terminal"
)

func newApprovals(s stdio) *cobra.Command {
	return group("approvals", "Answer calls that wait for approval",
		approvalsList(s), approvalsShow(s), approvalsApprove(s), approvalsDeny(s), approvalsWatch(s), approvalsGrants(s), approvalsRevoke(s), approvalsPIN(s))
}

func approvalID(a operator.ApprovalInfo) string { return a.ID }

func findApproval(id string) (owned[operator.ApprovalInfo], error) {
	return pick("approval", "petrigate approvals ls", id, (*control.Client).Approvals, approvalID)
}

// chosenApproval returns the approval with the id in args. Without an id it returns the pending
// approval if exactly one is pending, and an error otherwise.
func chosenApproval(args []string) (owned[operator.ApprovalInfo], error) {
	if len(args) > 0 {
		return findApproval(args[0])
	}
	all, err := gather((*control.Client).Approvals)
	if err != nil {
		return owned[operator.ApprovalInfo]{}, err
	}
	waiting := slices.DeleteFunc(all, func(o owned[operator.ApprovalInfo]) bool { return o.it.State != operator.Pending })
	waiting = uniqueBy(waiting, func(o owned[operator.ApprovalInfo]) string { return o.it.ID })
	switch len(waiting) {
	case 0:
		return owned[operator.ApprovalInfo]{}, errors.New("no call waits for approval; petrigate approvals lists those that were answered lately")
	case 1:
		return waiting[0], nil
	}
	return owned[operator.ApprovalInfo]{}, fmt.Errorf("%d calls wait for approval, so name one by its id; petrigate approvals lists them", len(waiting))
}

func approvalsShow(s stdio) *cobra.Command {
	c := &cobra.Command{
		Use: "show [ID]", Short: "Show one approval in full", Args: cobra.MaximumNArgs(1),
		Long: "show shows one approval in full: that with the ID, or the only one that waits.",
	}
	return answering(c, s, "approval", func(args []string) (any, func() error, error) {
		_, a, err := readApproval(args)
		return a, func() error {
			_, err := fmt.Fprintln(s.out, terminal.Shown(a))
			return err
		}, err
	})
}

func approvalsWatch(s stdio) *cobra.Command {
	c := &cobra.Command{
		Use: "watch", Short: "Answer approvals at a terminal as they come", Args: cobra.NoArgs,
		Long: "watch shows each call that waits for approval, whole, as soon as it waits, and takes an answer:\n" +
			"  y             approve it, once\n" +
			"  n [REASON]    deny it; the agent is told the reason\n" +
			"  g             approve it, and calls like it for a while: asks for how long, and what has to stay the same\n" +
			"  s             skip it: it waits on\n" +
			"  q             quit; nothing is answered\n" +
			"Enter alone is no answer, and neither is what was typed before the question was there. It follows all\n" +
			"running proxies, those that start later too. With --json it answers nothing, and needs no terminal: it\n" +
			"prints a line for each approval that waits, and for each that changes.",
	}
	asJSON := c.Flags().Bool("json", false, "print a line of JSON for each change, and answer nothing")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if *asJSON {
			return unlessEnded(c.Context(), terminal.Stream(c.Context(), daemon.RuntimeDir(), s.out))
		}
		if !isTerminal(s.in) || !isTerminal(s.out) {
			return usage("approvals watch asks at a terminal, and this is none; use --json to follow approvals from a program, or petrigate approvals ls")
		}
		return unlessEnded(c.Context(), terminal.Watch(c.Context(), daemon.RuntimeDir(), s.in, s.out, actor()))
	}
	return c
}

// unlessEnded drops err if a signal has ended ctx: that is how the user leaves the command.
func unlessEnded(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}
