package main

import (
	"io"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/serve/daemon"
)

// printProblems writes each problem with its source line.
func printProblems(w io.Writer, problems policy.Problems) { problems.Print(w, newInk(w)) }

// runnable returns what of the configuration cannot be used on this machine, and prints warnings.
func runnable(w io.Writer, c *config.Config) error {
	warnings, err := daemon.Runnable(c)
	printProblems(w, warnings)
	return err
}
