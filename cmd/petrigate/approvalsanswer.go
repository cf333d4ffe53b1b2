package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/internal/serve/control"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy"
)

// errNoTerminal is the error of a terminal whose input cannot be told from what was typed
// before a question.
var errNoTerminal = errors.New("standard input is not a terminal that can be asked")

// armed is how long a question was before a person before an answer counts: who has just
// typed for another one has not read it.
const armed = 500 * time.Millisecond

func approvalsApprove(s stdio) *cobra.Command {
	c := &cobra.Command{
		Use: "approve ID", Short: "Approve one call, once", Args: cobra.ExactArgs(1),
		Long: "approve lets one call pass, once, with exactly the arguments that are shown. At a terminal it shows the call\n" +
			"and asks once more; elsewhere it requires --yes.",
	}
	reason := reasonFlag(c)
	yes := c.Flags().Bool("yes", false, "approve without being asked once more")
	c.RunE = func(c *cobra.Command, args []string) error {
		if args[0] != "" && !*yes && (!isTerminal(s.in) || !isTerminal(s.out)) {
			return usage("approve asks once more at a terminal, and this is none; use petrigate approvals show %s to see the call, and --yes to approve it", args[0])
		}
		found, a, err := readApproval(args[0])
		if err != nil {
			return err
		}
		if !*yes && a.State == proxy.Pending {
			if err := confirm(c.Context(), s, a); err != nil {
				return err
			}
		}
		return answerApproval(s.out, found.client, a, true, *reason)
	}
	return c
}

func approvalsDeny(s stdio) *cobra.Command {
	c := &cobra.Command{Use: "deny ID", Short: "Deny one call", Args: cobra.ExactArgs(1)}
	reason := reasonFlag(c)
	c.RunE = func(_ *cobra.Command, args []string) error {
		found, a, err := readApproval(args[0])
		if err != nil {
			return err
		}
		return answerApproval(s.out, found.client, a, false, *reason)
	}
	return c
}

func reasonFlag(c *cobra.Command) *string {
	return c.Flags().String("reason", "", "a `text` for the record, and for the agent where it is a denial")
}

// readApproval returns the approval whose id begins so, whole.
func readApproval(id string) (owned[proxy.ApprovalInfo], proxy.ApprovalInfo, error) {
	found, err := findApproval(id)
	if err != nil {
		return found, found.it, err
	}
	a, err := found.client.Approval(found.it.ID)
	return found, a, err
}

// answerApproval answers what a was when it was read, and says what comes next.
func answerApproval(w io.Writer, client *control.Client, a proxy.ApprovalInfo, approve bool, reason string) error {
	if err := client.Resolve(a.ID, control.Answer{Approve: approve, Actor: actor(), Reason: reason, Shown: a.Shown}); err != nil {
		return err
	}
	if now, err := client.Approval(a.ID); err == nil {
		a = now
	}
	past := map[bool]string{true: "approved", false: "denied"}[approve]
	_, err := fmt.Fprintf(w, "%s %s: %s\n%s\n", a.ID, past, what(a), next(a, approve))
	return err
}

// next says what happens after an answer.
func next(a proxy.ApprovalInfo, approve bool) string {
	switch {
	case !approve:
		return "The agent is told. The same call of its session is refused for a while, and nobody is asked about it."
	case a.State == proxy.Pending:
		return fmt.Sprintf("It has %d of the %s that it needs, and waits for another one.", a.Approvals, text.Count(a.Needs, "approval"))
	default:
		return "The call goes on if it still waits. Otherwise the same call passes once, within " + timeLeft(a) + "."
	}
}

// confirm shows the call to the person at the terminal and takes a yes that was typed after
// it. Its error says that there was none.
func confirm(ctx context.Context, s stdio, a proxy.ApprovalInfo) error {
	t, err := openTerminal(s.in)
	if err != nil {
		return err
	}
	defer t.close()
	_, _ = fmt.Fprintln(s.out, shown(a))
	if err := t.arm(ctx); err != nil {
		return err
	}
	_, _ = fmt.Fprint(s.out, "Approve? [y/N] ")
	for {
		select {
		case <-ctx.Done():
			_, _ = fmt.Fprintln(s.out)
			return ctx.Err()
		case line := <-t.lines:
			if line.err != nil {
				_, _ = fmt.Fprintln(s.out)
				return errNotApproved
			}
			if !t.counts(line) {
				continue
			}
			if word := strings.ToLower(strings.TrimSpace(line.text)); word != "y" && word != "yes" {
				return errNotApproved
			}
			return nil
		}
	}
}

var errNotApproved = errors.New("not approved; the call waits on")

// arm waits until a question was before the person for a moment, and drops what was typed
// before that.
func (t *terminal) arm(ctx context.Context) error {
	timer := time.NewTimer(armed)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case line := <-t.lines:
			if line.err != nil {
				return errNotApproved
			}
		case <-timer.C:
			return t.forget()
		}
	}
}
