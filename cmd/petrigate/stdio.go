package main

import (
	"context"
	"io"

	"github.com/petrigate/petrigate/internal/serve/terminal"
)

// stdio holds a command's standard streams and hang-up signals.
type stdio struct {
	in       io.Reader
	out, err io.Writer
	hup      *hangUps // nil if SIGHUP ends the program
}

// asker returns a function that asks the user a yes-or-no question, or nil if the command does not
// run at a terminal.
func (s stdio) asker(ctx context.Context) func(question string) (bool, error) {
	if !terminal.Is(s.in) || !terminal.Is(s.err) {
		return nil
	}
	return func(question string) (bool, error) { return terminal.Agree(ctx, s.in, s.err, question) }
}
