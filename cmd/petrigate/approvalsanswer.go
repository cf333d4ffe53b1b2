package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/serve/control"
	"github.com/petrigate/petrigate/internal/serve/terminal"
)

func approvalsApprove(s stdio) *cobra.Command {
	c := &cobra.Command{
		Use: "approve [ID]", Short: "Approve one call, once", Args: cobra.MaximumNArgs(1),
		Long: "approve lets one call pass, once, with exactly the arguments shown. At a terminal it shows the call and asks\n" +
			"for confirmation, and the ID is optional if only one call is pending. Otherwise --yes and the ID are required.\n" +
			"With --for, similar calls also pass without a question for a while, or with --for session until the session\n" +
			"ends (at most a day). Similar calls are calls to the same tool in the same session whose arguments have the\n" +
			"same members, with the same values for those that --like names. approvals grants lists grants, approvals\n" +
			"revoke ends one.",
	}
	var wanted grantFlags
	wanted.add(c)
	reason := reasonFlag(c)
	yes := c.Flags().Bool("yes", false, "approve without confirmation")
	pinIn := pinFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		id := strings.Join(args, "")
		if (id != "" || len(args) == 0) && !*yes && (!terminal.Is(s.in) || !terminal.Is(s.out)) {
			return usage("standard input is not a terminal: run petrigate approvals show%s to review the call, then pass --yes", strings.TrimSuffix(" "+id, " "))
		}
		if len(args) == 0 && *yes {
			return usage("--yes requires the id of the call; petrigate approvals ls lists them")
		}
		grant, err := wanted.grant(c)
		if err != nil {
			return err
		}
		found, a, err := readApproval(args)
		if err != nil {
			return err
		}
		if !*yes && a.State == operator.Pending {
			question := terminal.FormatApproval(a)
			if grant != nil {
				question += "\n" + terminal.DescribeGrant(grant)
			}
			if err := terminal.Confirm(c.Context(), s.in, s.out, question); err != nil {
				return err
			}
		}
		typed := ""
		if a.PIN && a.State == operator.Pending {
			if typed, err = readPIN(c.Context(), s, "PIN: ", *pinIn); err != nil {
				return err
			}
		}
		return terminal.Answer(s.out, found.client, a, control.Answer{Approve: true, Actor: actor(), Reason: *reason, Grant: grant, PIN: typed})
	}
	return c
}

func approvalsDeny(s stdio) *cobra.Command {
	c := &cobra.Command{
		Use: "deny [ID]", Short: "Deny one call", Args: cobra.MaximumNArgs(1),
		Long: "deny refuses one call. Without an ID it refuses the only pending one. It never asks, so --yes changes nothing.",
	}
	reason := reasonFlag(c)
	c.Flags().Bool("yes", false, "accepted for symmetry with approve; deny never asks")
	c.RunE = func(_ *cobra.Command, args []string) error {
		found, a, err := readApproval(args)
		if err != nil {
			return err
		}
		return terminal.Answer(s.out, found.client, a, control.Answer{Actor: actor(), Reason: *reason})
	}
	return c
}

func reasonFlag(c *cobra.Command) *string {
	return c.Flags().String("reason", "", "a `text` for the record; with a denial the agent sees it too")
}

// readApproval returns the approval selected by args. The first result is the entry in the proxy's
// list; the second contains all details. The argument can be a prefix of the approval's ID. Without
// an argument, there must be exactly one pending approval.
func readApproval(args []string) (ownedItem[operator.ApprovalInfo], operator.ApprovalInfo, error) {
	found, err := chosenApproval(args)
	if err != nil {
		return found, found.it, err
	}
	a, err := found.client.Approval(found.it.ID)
	return found, a, err
}
