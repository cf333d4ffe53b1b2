package main

import (
	"slices"

	"github.com/spf13/cobra"

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
		waits := func(a operator.ApprovalInfo) bool { return a.State == operator.Pending }
		pending, ended := partition(all, waits)
		if *alone {
			ended = nil
		}
		return append(slices.Clip(pending), ended...), func() error { return terminal.PrintApprovals(s.out, pending, ended) }, err
	})
}

// partition splits a list into the elements that satisfy a predicate and those that do not,
// preserving the order. The results are never nil, so that they are encoded as JSON arrays.
func partition[T any](all []T, which func(T) bool) (yes, no []T) {
	yes, no = []T{}, []T{}
	for _, one := range all {
		if which(one) {
			yes = append(yes, one)
		} else {
			no = append(no, one)
		}
	}
	return yes, no
}
