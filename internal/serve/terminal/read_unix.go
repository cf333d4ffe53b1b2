//go:build linux || darwin

package terminal

import (
	"bytes"
	"errors"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// A terminal is where a person types answers, a line each. What was typed before a question
// was shown is no answer to it: see [terminal.discard].
type terminal struct {
	fd     int
	lines  chan input
	closed chan struct{}
	wake   *os.File // can be read once the terminal is closed, since the other end is
	other  *os.File
	ended  chan struct{} // the reader has

	mu      sync.Mutex
	epoch   int
	partial []byte // of a line whose end was not typed yet
}

// input is what a person has typed: a line, or that there will be none (io.EOF).
type input struct {
	text  string
	err   error
	epoch int
}

// openTerminal begins to read what is typed. The caller must close the terminal.
func openTerminal(in io.Reader) (*terminal, error) {
	if !Is(in) {
		return nil, errNoTerminal
	}
	wake, other, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	t := &terminal{fd: int(in.(*os.File).Fd()), lines: make(chan input), closed: make(chan struct{}), wake: wake, other: other, ended: make(chan struct{})}
	go t.read()
	return t, nil
}

func (t *terminal) close() {
	close(t.closed)
	_ = t.other.Close()
	<-t.ended
	_ = t.wake.Close()
}

// hide keeps what is typed from being shown, or shows it again.
func (t *terminal) hide(hidden bool) error {
	mode, err := unix.IoctlGetTermios(t.fd, getMode)
	if err != nil {
		return err
	}
	mode.Lflag |= unix.ECHO
	if hidden {
		mode.Lflag &^= unix.ECHO
	}
	return unix.IoctlSetTermios(t.fd, setMode, mode)
}

// discard drops all that was typed so far, and the line that is being typed. Where it fails,
// nothing that is typed may count.
func (t *terminal) discard() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.epoch++
	t.partial = nil
	return flushInput(t.fd)
}

// isCurrent reports whether a line was typed after the last forget.
func (t *terminal) isCurrent(line input) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return line.epoch == t.epoch
}

// read hands on lines until the end of the input, or until the terminal is closed.
func (t *terminal) read() {
	defer close(t.ended)
	for t.await(true) {
		for _, line := range t.readLines() {
			select {
			case t.lines <- line:
			case <-t.closed:
				return
			}
			if line.err != nil {
				return
			}
		}
	}
}

// await waits until something was typed, and reports false where the terminal was closed.
// It does not wait where wait is false.
func (t *terminal) await(wait bool) bool {
	var timeout *unix.Timeval
	if !wait {
		timeout = &unix.Timeval{}
	}
	wake := int(t.wake.Fd())
	for {
		var ready unix.FdSet
		ready.Set(t.fd)
		ready.Set(wake)
		n, err := unix.Select(max(t.fd, wake)+1, &ready, nil, nil, timeout)
		if !errors.Is(err, unix.EINTR) {
			return err == nil && n > 0 && !ready.IsSet(wake) && ready.IsSet(t.fd)
		}
	}
}

// readLines reads what was typed. It holds the lock, so that what it reads was typed after the
// last forget.
func (t *terminal) readLines() []input {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.await(false) { // it was forgotten meanwhile
		return nil
	}
	b := make([]byte, 4096)
	n, err := unix.Read(t.fd, b)
	if errors.Is(err, unix.EINTR) || errors.Is(err, unix.EAGAIN) {
		return nil
	}
	if err != nil || n == 0 { // a line without its end is none
		return []input{{err: io.EOF, epoch: t.epoch}}
	}
	t.partial = append(t.partial, b[:n]...)
	var lines []input
	for {
		line, rest, whole := bytes.Cut(t.partial, []byte("\n"))
		if !whole {
			return lines
		}
		lines, t.partial = append(lines, input{text: string(line), epoch: t.epoch}), rest
	}
}
