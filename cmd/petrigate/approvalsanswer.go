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
		Long: "approve lets one call pass, once, with exactly the arguments that are shown. At a terminal it shows the call\n" +
			"and asks once more, and without an ID it takes the only call that waits; elsewhere it requires --yes and the ID.\n" +
			"With --for, calls like it pass without a question for a while, or with --for session until its session ends\n" +
			"(after a day at the latest): those of the same session and tool whose arguments have the same members, and the\n" +
			"same values where --like names them. approvals grants lists what was given, approvals revoke ends it.",
	}
	var wanted grantFlags
	wanted.add(c)
	reason := reasonFlag(c)
	yes := c.Flags().Bool("yes", false, "approve without being asked once more")
	pinIn := pinFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		id := strings.Join(args, "")
		if (id != "" || len(args) == 0) && !*yes && (!isTerminal(s.in) || !isTerminal(s.out)) {
			return usage("approve asks once more at a terminal, and this is none; use petrigate approvals show%s to see the call, and --yes to approve it", strings.TrimSuffix(" "+id, " "))
		}
		if len(args) == 0 && *yes {
			return usage("--yes approves without a look at the call, so name it by its id; petrigate approvals ls lists them")
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
			question := terminal.Shown(a)
			if grant != nil {
				question += "\n" + terminal.Wants(grant)
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
		Long: "deny refuses one call: that with the ID, or the only one that waits. It never asks, so --yes changes nothing.",
	}
	reason := reasonFlag(c)
	c.Flags().Bool("yes", false, "accepted as by approve; deny never asks")
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
	return c.Flags().String("reason", "", "a `text` for the record, and for the agent where it is a denial")
}

// readApproval returns the approval with the id (or the prefix of an id) in args, or the only
// pending one. The second result holds it in full, as the proxy returns it.
func readApproval(args []string) (owned[operator.ApprovalInfo], operator.ApprovalInfo, error) {
	found, err := chosenApproval(args)
	if err != nil {
		return found, found.it, err
	}
	a, err := found.client.Approval(found.it.ID)
	return found, a, err
}
