package simulate

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/internal/text"
)

// Help is the text that lists the commands.
const Help = `  call NAME [JSON]   make a call, as: call delete {"path": "a"}
  succeed [N] [JSON] end call N, or the latest running call, with this result
  fail [N]           likewise; also: unknown
  approve [N]        give one person's approval; also: deny
  after 2m           let time pass
  back               undo the last command
  status             show the nets, and the calls that have not ended
  names NAME [JSON]  show the names of a call
  help, quit
`

var errQuit = errors.New("quit")

// Run reads commands from the input and executes them. It returns when a command ends the
// simulation, at the end of the input, or when ctx is done.
func (m *Simulator) Run(ctx context.Context, in io.Reader) error {
	m.printf("%s; type help for the commands\n", text.Count(len(m.of.result.Policy.Nets()), "net"))
	m.printCallable()
	lines, failed := readLines(ctx, in)
	for {
		if m.terminal {
			m.printf("> ")
		}
		select {
		case <-ctx.Done():
			return nil
		case line, ok := <-lines:
			if !ok {
				if m.terminal {
					m.printf("\n") // end the prompt's line
				}
				return <-failed
			}
			if m.line(strings.TrimSpace(line)) {
				return nil
			}
		}
	}
}

// readLines reads lines in a separate goroutine, so that an interrupt can end a program waiting for
// input. After ctx is done, the goroutine exits only when the pending read returns.
func readLines(ctx context.Context, in io.Reader) (lines <-chan string, failed <-chan error) {
	out, err := make(chan string), make(chan error, 1)
	go func() {
		defer close(out)
		s := bufio.NewScanner(in)
		s.Buffer(nil, 1<<24)
		for s.Scan() {
			select {
			case out <- s.Text():
			case <-ctx.Done():
				err <- nil
				return
			}
		}
		err <- s.Err()
	}()
	return out, err
}

// line executes a command and reports whether it ends the simulation. If the input is not a
// terminal, line also echoes the command.
func (m *Simulator) line(line string) (quit bool) {
	if !m.terminal {
		m.printf("> %s\n", line)
	}
	err := m.command(line)
	if errors.Is(err, errQuit) {
		return true
	}
	if err != nil {
		m.Mistakes++
		m.printf("%s %v\n", m.ink.In(text.Red, "?"), err)
	}
	return false
}

// commands contains the names that the program suggests if a user misspells a command.
var commands = []string{"call", "succeed", "fail", "unknown", "approve", "deny", "after", "back", "status", "names", "help", "quit"}

func (m *Simulator) command(line string) error {
	word, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	switch word {
	case "":
		return nil
	case "call":
		return m.makeCall(rest)
	case "succeed", "fail", "unknown", "approve", "deny":
		return m.endCall(word, rest)
	case "after":
		return m.letTimePass(rest)
	case "back":
		return m.undo()
	case "status":
		m.printStatus()
	case "names":
		return m.names(rest)
	case "help":
		m.printf("%s", Help)
	case "quit", "exit":
		return errQuit
	default:
		hint := text.DidYouMean(word, "", commands)
		if _, known := m.of.tools.Find(word); hint == "" || known || slices.Contains(m.of.names(), word) {
			return fmt.Errorf("unknown command %q; to call a tool, write: call %s", word, line)
		}
		return fmt.Errorf("unknown command %q%s; type help for the commands", word, hint)
	}
	return nil
}
