package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/internal/serve/control"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy"
)

func newApprovals(s stdio) *cobra.Command {
	return group("approvals", "Answer calls that wait for approval",
		approvalsList(s), approvalsShow(s), approvalsAnswer(s, "approve", true), approvalsAnswer(s, "deny", false))
}

func approvalsList(s stdio) *cobra.Command {
	c := &cobra.Command{Use: "ls", Short: "List approvals, pending first", Args: cobra.NoArgs}
	return answering(c, s, "approvals", func([]string) (any, func() error, error) {
		lists, err := ask((*control.Client).Approvals)
		all := once(append([]proxy.ApprovalInfo{}, slices.Concat(lists...)...), approvalID)
		answered := func(a proxy.ApprovalInfo) int { return map[bool]int{true: 0, false: 1}[a.State == proxy.Pending] }
		slices.SortStableFunc(all, func(a, b proxy.ApprovalInfo) int { return answered(a) - answered(b) })
		return all, func() error {
			var rows [][]string
			for _, a := range all {
				rows = append(rows, []string{a.ID, state(a), a.Upstream, a.Tool, a.Session, left(a)})
			}
			return text.Table(s.out, "no approvals", "ID|STATE|UPSTREAM|TOOL|SESSION|EXPIRES IN", rows)
		}, err
	})
}

// state is the state of an approval, and how many have approved it of several persons.
func state(a proxy.ApprovalInfo) string {
	if a.Needs > 1 && a.State == proxy.Pending {
		return fmt.Sprintf("%s %d/%d", a.State, a.Approvals, a.Needs)
	}
	return string(a.State)
}

// left is how long an approval can still be answered or used.
func left(a proxy.ApprovalInfo) string {
	if a.State != proxy.Pending && a.State != proxy.Approved {
		return "-"
	}
	return time.Until(a.Expires).Round(time.Second).String()
}

func approvalID(a proxy.ApprovalInfo) string { return a.ID }

func findApproval(id string) (owned[proxy.ApprovalInfo], error) {
	return pick("approval", "petrigate approvals ls", id, (*control.Client).Approvals, approvalID)
}

func approvalsShow(s stdio) *cobra.Command {
	c := &cobra.Command{Use: "show ID", Short: "Show one approval in full", Args: cobra.ExactArgs(1)}
	return answering(c, s, "approval", func(args []string) (any, func() error, error) {
		found, err := findApproval(args[0])
		if err != nil {
			return nil, nil, err
		}
		a, err := found.client.Approval(found.it.ID)
		return a, func() error {
			_, err := fmt.Fprintf(s.out, "%s\nState: %s%s\n", a.Question, a.State, answered(a))
			return err
		}, err
	})
}

// answered says who gave the answer, and how.
func answered(a proxy.ApprovalInfo) string {
	var by string
	if a.Actor != "" {
		by = ", by " + text.Escape(a.Actor)
	}
	if a.Channel != "" {
		by += ", via " + a.Channel
	}
	if a.Reason != "" {
		by += fmt.Sprintf(": %q", a.Reason)
	}
	return by
}

func approvalsAnswer(s stdio, verb string, approve bool) *cobra.Command {
	c := &cobra.Command{Use: verb + " ID", Short: strings.ToUpper(verb[:1]) + verb[1:] + " one call, once", Args: cobra.ExactArgs(1)}
	reason := c.Flags().String("reason", "", "a `text` for the record, and for the agent where it is a denial")
	c.RunE = func(_ *cobra.Command, args []string) error {
		found, err := findApproval(args[0])
		if err != nil {
			return err
		}
		a := found.it
		if err := found.client.Resolve(a.ID, control.Answer{Approve: approve, Actor: actor(), Reason: *reason}); err != nil {
			return err
		}
		past := map[bool]string{true: "approved", false: "denied"}[approve]
		more := ""
		if now, err := found.client.Approval(a.ID); approve && err == nil && now.State == proxy.Pending {
			more = fmt.Sprintf(" (%d of %d persons; it still waits for another one)", now.Approvals, now.Needs)
		}
		_, err = fmt.Fprintf(s.out, "%s %s: %s on %s%s\n", a.ID, past, text.Escape(a.Tool), text.Escape(a.Upstream), more)
		return err
	}
	return c
}
