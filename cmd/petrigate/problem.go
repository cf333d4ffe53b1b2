package main

import (
	"io"
	"slices"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/check"
)

// printProblems writes each problem with its source line.
func printProblems(w io.Writer, problems policy.Problems) { problems.Print(w, newInk(w)) }

// runnable says what of the configuration cannot be used on this machine, all
// at once, and warns of the rest.
func runnable(w io.Writer, c *config.Config) error {
	found := slices.Concat(check.MissingCommands(c, policy.Error), tlsFiles(c, policy.Error))
	if errs := found.Of(policy.Error); len(errs) > 0 {
		return errs
	}
	printProblems(w, found)
	return nil
}
