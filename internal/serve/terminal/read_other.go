//go:build !linux && !darwin

package terminal

import "io"

// A terminal cannot be opened on this operating system, because an answer could not be
// distinguished from text typed before the question.
type terminal struct{ lines chan input }

type input struct {
	text string
	err  error
}

func openTerminal(io.Reader) (*terminal, error) { return nil, errNoTerminal }

func (t *terminal) close()               {}
func (t *terminal) discard() error       { return errNoTerminal }
func (t *terminal) setHidden(bool) error { return errNoTerminal }
func (t *terminal) isCurrent(input) bool { return false }
