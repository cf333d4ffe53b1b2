package main

import (
	"fmt"
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

// waiting is one approval with the proxy that holds it.
type waiting struct {
	proxy.ApprovalInfo
	client *control.Client
}

func approvals() ([]waiting, error) {
	found, err := running()
	if err != nil {
		return nil, err
	}
	var all []waiting
	for _, client := range found {
		list, err := client.Approvals()
		if err != nil {
			return nil, err
		}
		for _, a := range list {
			all = append(all, waiting{a, client})
		}
	}
	return all, nil
}

func approvalsList(s stdio) *cobra.Command {
	c := &cobra.Command{Use: "ls", Short: "List approvals, pending first", Args: cobra.NoArgs}
	asJSON := c.Flags().Bool("json", false, "print JSON")
	c.RunE = func(*cobra.Command, []string) error {
		all, err := approvals()
		if err != nil {
			return err
		}
		infos := []proxy.ApprovalInfo{}
		for _, pending := range []bool{true, false} {
			for _, a := range all {
				if (a.State == proxy.Pending) == pending {
					infos = append(infos, a.ApprovalInfo)
				}
			}
		}
		if *asJSON {
			return printAnswer(s.out, "approvals", infos)
		}
		var rows [][]string
		for _, a := range infos {
			rows = append(rows, []string{a.ID, string(a.State), a.Upstream, a.Tool, a.Session, left(a)})
		}
		return text.Table(s.out, "no approvals", "ID|STATE|UPSTREAM|TOOL|SESSION|EXPIRES IN", rows)
	}
	return c
}

// left is how long an approval can still be answered or used.
func left(a proxy.ApprovalInfo) string {
	if a.State != proxy.Pending && a.State != proxy.Approved {
		return "-"
	}
	return time.Until(a.Expires).Round(time.Second).String()
}

// findApproval is the one approval whose id begins with a prefix.
func findApproval(prefix string) (waiting, error) {
	if prefix == "" { // as of a variable that is not set
		return waiting{}, usage("the id of the approval is empty; petrigate approvals ls lists them")
	}
	all, err := approvals()
	if err != nil {
		return waiting{}, err
	}
	var hits []waiting
	for _, a := range all {
		if a.ID == prefix {
			return a, nil
		}
		if strings.HasPrefix(strings.ToLower(a.ID), strings.ToLower(prefix)) { // as people type it
			hits = append(hits, a)
		}
	}
	if len(hits) == 1 {
		return hits[0], nil
	}
	return waiting{}, ambiguous("approval", prefix, len(hits), "petrigate approvals ls")
}

func approvalsShow(s stdio) *cobra.Command {
	c := &cobra.Command{Use: "show ID", Short: "Show one approval in full", Args: cobra.ExactArgs(1)}
	asJSON := c.Flags().Bool("json", false, "print JSON")
	c.RunE = func(_ *cobra.Command, args []string) error {
		found, err := findApproval(args[0])
		if err != nil {
			return err
		}
		a, err := found.client.Approval(found.ID)
		if err != nil {
			return err
		}
		if *asJSON {
			return printAnswer(s.out, "approval", a)
		}
		_, err = fmt.Fprintf(s.out, "%s\nState: %s%s\n", a.Question, a.State, answered(a))
		return err
	}
	return c
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
		a, err := findApproval(args[0])
		if err != nil {
			return err
		}
		if err := a.client.Resolve(a.ID, control.Answer{Approve: approve, Actor: actor(), Reason: *reason}); err != nil {
			return err
		}
		past := map[bool]string{true: "approved", false: "denied"}[approve]
		_, err = fmt.Fprintf(s.out, "%s %s: %s on %s\n", a.ID, past, text.Escape(a.Tool), text.Escape(a.Upstream))
		return err
	}
	return c
}
