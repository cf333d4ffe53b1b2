package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/internal/serve/control"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy"
)

func newApprovals(s stdio) *cobra.Command {
	return group("approvals", "Answer calls that wait for approval",
		approvalsList(s), approvalsShow(s), approvalsApprove(s), approvalsDeny(s), approvalsWatch(s))
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
			_, err := fmt.Fprintln(s.out, shown(a))
			return err
		}, err
	})
}

// shown is an approval as a person is asked about it, and how it stands.
func shown(a proxy.ApprovalInfo) string {
	return fmt.Sprintf("%s\nState: %s%s", a.Question, a.State, answered(a))
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

// what names the call of an approval.
func what(a proxy.ApprovalInfo) string {
	return text.Escape(a.Tool) + " on " + text.Escape(a.Upstream)
}

// timeLeft is how long an approval can still be answered or used.
func timeLeft(a proxy.ApprovalInfo) string { return text.Duration(max(0, time.Until(a.Expires))) }
