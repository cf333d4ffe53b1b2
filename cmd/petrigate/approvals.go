package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/internal/list"
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

func findApproval(id string) (ownedItem[operator.ApprovalInfo], error) {
	return pick("approval", "petrigate approvals ls", id, (*control.Client).Approvals, approvalID)
}

// chosenApproval returns the approval selected by args. The argument can be a prefix of the
// approval's ID. Without an argument, there must be exactly one pending approval.
func chosenApproval(args []string) (ownedItem[operator.ApprovalInfo], error) {
	if len(args) > 0 {
		return findApproval(args[0])
	}
	all, err := gather((*control.Client).Approvals)
	if err != nil {
		return ownedItem[operator.ApprovalInfo]{}, err
	}
	waiting := slices.DeleteFunc(all, func(o ownedItem[operator.ApprovalInfo]) bool { return o.it.State != operator.Pending })
	waiting = uniqueBy(waiting, func(o ownedItem[operator.ApprovalInfo]) string { return o.it.ID })
	switch len(waiting) {
	case 0:
		return ownedItem[operator.ApprovalInfo]{}, errors.New("no call is waiting for approval; petrigate approvals lists those answered recently")
	case 1:
		return waiting[0], nil
	}
	return ownedItem[operator.ApprovalInfo]{}, fmt.Errorf("%d calls are waiting for approval; name one by its id, as listed by petrigate approvals", len(waiting))
}

func approvalsList(s stdio) *cobra.Command {
	c := &cobra.Command{Use: "ls", Short: "List approvals, pending first", Args: cobra.NoArgs}
	alone := c.Flags().Bool("pending", false, "list only pending approvals")
	return answering(c, s, "approvals", func([]string) (any, func() error, error) {
		lists, err := askAll((*control.Client).Approvals)
		all := uniqueBy(append([]operator.ApprovalInfo{}, slices.Concat(lists...)...), approvalID)
		pending := list.Filter(all, func(a operator.ApprovalInfo) bool { return a.State == operator.Pending })
		ended := list.Filter(all, func(a operator.ApprovalInfo) bool { return a.State != operator.Pending && !*alone })
		return append([]operator.ApprovalInfo{}, slices.Concat(pending, ended)...), func() error { return terminal.PrintApprovals(s.out, pending, ended) }, err
	})
}

func approvalsShow(s stdio) *cobra.Command {
	c := &cobra.Command{
		Use: "show [ID]", Short: "Show one approval in full", Args: cobra.MaximumNArgs(1),
		Long: "show prints one approval in full. Without an ID it prints the only pending one.",
	}
	return answering(c, s, "approval", func(args []string) (any, func() error, error) {
		_, a, err := readApproval(args)
		return a, func() error {
			_, err := fmt.Fprintln(s.out, terminal.FormatApproval(a))
			return err
		}, err
	})
}

func approvalsWatch(s stdio) *cobra.Command {
	c := &cobra.Command{
		Use: "watch", Short: "Answer approvals at a terminal as they come", Args: cobra.NoArgs,
		Long: "watch shows each pending call in full as soon as it arrives, and asks for an answer:\n" +
			"  y             approve it, once\n" +
			"  n [REASON]    deny it; the agent receives the reason\n" +
			"  g             approve it and similar calls for a while; asks for how long and which arguments must stay the same\n" +
			"  s             skip it; it stays pending\n" +
			"  q             quit without answering\n" +
			"Enter alone does not answer, and input typed before the question appeared is ignored. watch follows all\n" +
			"running proxies, including those that start later. With --json it only reports: it needs no terminal and\n" +
			"prints a line for each pending approval and for each change.",
	}
	asJSON := c.Flags().Bool("json", false, "print a line of JSON for each change, and do not ask for answers")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if *asJSON {
			return unlessEnded(c.Context(), terminal.Stream(c.Context(), daemon.RuntimeDir(), s.out))
		}
		if !terminal.Is(s.in) || !terminal.Is(s.out) {
			return usage("approvals watch requires a terminal; use --json to follow approvals from a program, or petrigate approvals ls")
		}
		return unlessEnded(c.Context(), terminal.Watch(c.Context(), daemon.RuntimeDir(), s.in, s.out, actor()))
	}
	return c
}

// unlessEnded returns err, or nil if ctx was canceled. Users end the command with a signal, so
// cancellation is not an error.
func unlessEnded(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}
