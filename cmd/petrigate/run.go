package main

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/internal/serve/daemon"
)

// run executes the command in args and returns the program's exit code.
func run(ctx context.Context, args []string, s stdio) int {
	root := newRoot(s)
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		completeVerbs(root) // this is slow, so do it only when the shell requests completions
	}
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = errors.New("interrupted") // the user sent a signal, so do not report which operation was canceled
	}
	return report(s.err, err)
}

// report prints err unless it has already been printed, and returns the matching exit code.
func report(w io.Writer, err error) int {
	var coded *exitError
	var problems diag.List
	var invalid *daemon.InvalidError
	if list, rest := check.ConfigProblems(err); rest == nil && len(list) > 0 {
		err = list
	}
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &coded):
		if coded.err != nil {
			printError(w, coded.err)
		}
		return coded.code
	case errors.As(err, &problems):
		printProblems(w, problems)
		return exitInvalid
	case errors.As(err, &invalid), errors.Is(err, config.ErrNotFound):
		printError(w, err)
		return exitInvalid
	default:
		printError(w, err)
		return exitFailed
	}
}
