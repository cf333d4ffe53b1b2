package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/serve/control"
	"github.com/petrigate/petrigate/internal/serve/terminal"
)

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
