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

// A terminal reads the lines that a person types. Input that was typed before a question was shown
// must not count as an answer to that question; see [terminal.discard].
type terminal struct {
	fd     int
	lines  chan input
	closed chan struct{}
	wake   *os.File // read end of a pipe; becomes readable when the terminal is closed
	other  *os.File
	ended  chan struct{} // closed when the reading goroutine has ended

	mu      sync.Mutex
	epoch   int
	partial []byte // beginning of an unfinished line
}

// An input is either a line of input or, at the end of the input, the error io.EOF.
type input struct {
	text  string
	err   error
	epoch int
}

// openTerminal starts reading lines from in. The caller must close the terminal.
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

// setHidden turns the echo of typed characters off if hidden is true, and on otherwise.
func (t *terminal) setHidden(hidden bool) error {
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

// discard discards all input typed so far, including an unfinished line. If it returns an error,
// the caller must not accept any later input as an answer.
func (t *terminal) discard() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.epoch++
	t.partial = nil
	return flushInput(t.fd)
}

// isCurrent reports whether the line was typed after the last call to discard.
func (t *terminal) isCurrent(line input) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return line.epoch == t.epoch
}

// read sends lines to the channel until the input ends or the terminal is closed.
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

// await reports whether input is available. If wait is true, it first waits until input is
// available or the terminal is closed.
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

// readLines reads the available input. It holds the lock, so that everything it reads was typed
// after the last call to discard.
func (t *terminal) readLines() []input {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.await(false) { // another goroutine has already discarded the input
		return nil
	}
	b := make([]byte, 4096)
	n, err := unix.Read(t.fd, b)
	if errors.Is(err, unix.EINTR) || errors.Is(err, unix.EAGAIN) {
		return nil
	}
	if err != nil || n == 0 { // at the end of the input, an unfinished line is dropped
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
