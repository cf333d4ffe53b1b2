package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/internal/text"
)

func newSimulate(s stdio) *cobra.Command {
	c := &cobra.Command{
		Use:   "simulate [FILE...]",
		Short: "Step through a policy: make calls up, and see what moves",
		Long: "simulate reads commands, one a line, and shows after each what the nets make of it; no server is started.\n" +
			"It works at a terminal and in a pipe. --record writes what was done as a file for petrigate test.\n\n" + simulateHelp,
	}
	var f stageFlags
	f.add(c)
	record := c.Flags().String("record", "", "write the session as a policy test to this new `file`")
	c.RunE = func(c *cobra.Command, files []string) error {
		if err := givenFiles(c, files, &f.rules, &f.nets); err != nil {
			return err
		}
		if *record != "" {
			if _, err := os.Lstat(*record); err == nil {
				return fmt.Errorf("recording to %s: the file is there already", *record)
			}
		}
		st, err := f.open(c)
		if err != nil {
			return err
		}
		sim := newSimulator(st, s)
		if err := sim.run(c.Context(), s.in); err != nil {
			return err
		}
		if *record != "" {
			if err := sim.record(*record, f); err != nil {
				return fmt.Errorf("recording to %s: %w", *record, text.Innermost(err))
			}
		}
		if sim.mistakes > 0 && !sim.terminal {
			return fmt.Errorf("%s could not be done", text.Count(sim.mistakes, "command"))
		}
		return nil
	}
	return c
}

const simulateHelp = `  call NAME [JSON]   make a call, as: call delete {"path": "a"}
  succeed [N]        end the call N, or the latest that runs; also: fail, unknown
  approve [N]        answer for the person who is asked; also: deny
  after 2m           let time pass
  back               take the last command back
  status             show the nets, and the calls that have not ended
  names NAME [JSON]  show the names that a call carries
  help, quit
`

// A simulator plays what a user types.
type simulator struct {
	stage    *stage
	out      io.Writer
	ink      text.Ink
	terminal bool // somebody types
	moves    []move
	calls    []*madeCall // by their numbers, from 1
	mistakes int
}

var errQuit = errors.New("quit")

func newSimulator(st *stage, s stdio) *simulator {
	return &simulator{stage: st, out: s.out, ink: newInk(s.out), terminal: isTerminal(s.in) && isTerminal(s.out)}
}

// run does one command after the other.
func (m *simulator) run(ctx context.Context, in io.Reader) error {
	m.printf("%s; help says what can be done\n", text.Count(len(m.stage.result.Policy.Nets()), "net"))
	m.possible()
	lines, failed := typed(ctx, in)
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
					m.printf("\n") // behind the prompt
				}
				return <-failed
			}
			if m.line(strings.TrimSpace(line)) {
				return nil
			}
		}
	}
}

// typed reads lines. It goes on when nobody wants them any more only as long as
// the reader blocks: an interrupt has to end a program that waits for a line.
func typed(ctx context.Context, in io.Reader) (lines <-chan string, failed <-chan error) {
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

// line does a command, and reports whether it is the last. What is typed is
// shown where no terminal does so.
func (m *simulator) line(line string) (quit bool) {
	if !m.terminal {
		m.printf("> %s\n", line)
	}
	err := m.command(line)
	if errors.Is(err, errQuit) {
		return true
	}
	if err != nil {
		m.mistakes++
		m.printf("%s %v\n", m.ink.In(text.Red, "?"), err)
	}
	return false
}

func (m *simulator) printf(format string, args ...any) { _, _ = fmt.Fprintf(m.out, format, args...) }

// commands are the words that the user can type.
var commands = []string{"call", "succeed", "fail", "unknown", "approve", "deny", "after", "back", "status", "names", "help", "quit"}

func (m *simulator) command(line string) error {
	word, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	switch word {
	case "":
		return nil
	case "call":
		return m.made(rest)
	case "succeed", "fail", "unknown", "approve", "deny":
		return m.ends(word, rest)
	case "after":
		return m.passes(rest)
	case "back":
		return m.back()
	case "status":
		m.status()
	case "names":
		return m.names(rest)
	case "help":
		m.printf("%s", simulateHelp)
	case "quit", "exit":
		return errQuit
	default:
		return fmt.Errorf("there is no command %q%s; help lists them", word, suggestion(word, "", commands))
	}
	return nil
}
