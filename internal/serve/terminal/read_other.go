//go:build !linux && !darwin

package terminal

import "io"

// A terminal cannot be used on this operating system, because input typed before a question cannot
// be distinguished from an answer.
type terminal struct{ lines chan input }

type input struct {
	text string
	err  error
}

func openTerminal(io.Reader) (*terminal, error) { return nil, errNoTerminal }

func (t *terminal) close()               {}
func (t *terminal) discard() error       { return errNoTerminal }
func (t *terminal) hide(bool) error      { return errNoTerminal }
func (t *terminal) isCurrent(input) bool { return false }
