package service

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"github.com/petrigate/petrigate/internal/text"
)

// patience bounds how long a program of the manager may take.
const patience = time.Minute

// output runs a program of the manager and returns its output.
func output(ctx context.Context, argv []string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	out, err := c.Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		said, _, _ := strings.Cut(strings.TrimSpace(string(failed.Stderr)), "\n") // the rest of it is advice
		if said != "" {
			err = errors.New(text.Escape(said))
		}
		err = fmt.Errorf("%s: %w", strings.Join(argv, " "), err)
	}
	return string(out), err
}

// Answers reports whether the manager runs. Variables are the names of those that it gives to a service, as far
// as it says.
func (m *Manager) Answers(ctx context.Context) (variables []string, ok bool) {
	out, err := output(ctx, m.answers)
	if err != nil {
		return nil, false
	}
	return append(names(out), m.written()...), true
}

// written are the variables in the file for them.
func (m *Manager) written() []string {
	if m.Variables == "" {
		return nil
	}
	src, err := os.ReadFile(m.Variables)
	if err != nil {
		return nil // systemd leaves it out too
	}
	return names(string(src))
}

// naming is how managers and files show a variable: NAME=VALUE, and for launchd and Windows NAME => VALUE and
// NAME REG_SZ VALUE.
var naming = regexp.MustCompile(`(?m)^\s*([A-Za-z_][A-Za-z0-9_]*)(?:[ \t]*=|[ \t]+=>|[ \t]+REG_)`)

// names are those of the variables that a text shows.
func names(shown string) (all []string) {
	for _, m := range naming.FindAllStringSubmatch(shown, -1) {
		all = append(all, m[1])
	}
	return all
}

// Install writes the file, and starts the service anew.
func (m *Manager) Install(ctx context.Context, text string) error {
	if err := m.write(text); err != nil {
		return err
	}
	return all(ctx, m.start)
}

// ErrNoManager is returned where no manager of services runs for this user.
var ErrNoManager = errors.New("no manager of services runs for this user here, as in a container or after su")

// Remove stops the service, and removes its file.
func (m *Manager) Remove(ctx context.Context) error {
	if _, ok := m.Answers(ctx); !ok {
		return ErrNoManager // the service may run all the same
	}
	if err := all(ctx, m.stop); err != nil {
		return err
	}
	if m.runs != nil {
		if _, err := output(ctx, m.runs); err == nil {
			return errors.New("it still runs")
		}
	}
	if err := os.Remove(m.File); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing the service: %w", err)
	}
	return all(ctx, m.removed)
}

// Said are the lines that the service has written last, as far as the manager keeps them.
func (m *Manager) Said(ctx context.Context) string {
	if m.said == nil {
		return ""
	}
	out, _ := output(ctx, m.said) // perhaps the manager keeps nothing
	return strings.TrimSpace(out)
}

// all runs commands until one fails that must not.
func all(ctx context.Context, steps []step) error {
	for _, s := range steps {
		if err := s.run(ctx); err != nil && !s.lenient {
			return err
		}
	}
	return nil
}

// run runs the command, several times where it may fail for a moment.
func (s step) run(ctx context.Context) (err error) {
	pauses := []time.Duration{0}
	if s.retried {
		pauses = []time.Duration{0, 100 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second}
	}
	for _, pause := range pauses {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
		if _, err = output(ctx, s.argv); err == nil {
			return nil
		}
	}
	return err
}
