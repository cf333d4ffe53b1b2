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

// commandTimeout bounds how long a program of the manager may take.
const commandTimeout = time.Minute

// output runs a program of the manager and returns its output.
func output(ctx context.Context, argv []string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
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
	out, err := output(ctx, m.probe)
	if err != nil {
		return nil, false
	}
	return append(variableNames(out), m.fileVariables()...), true
}

// fileVariables are the variables in the file for them.
func (m *Manager) fileVariables() []string {
	if m.Variables == "" {
		return nil
	}
	src, err := os.ReadFile(m.Variables)
	if err != nil {
		return nil // systemd leaves it out too
	}
	return variableNames(string(src))
}

// variablePattern is how managers and files show a variable: NAME=VALUE, and for launchd and Windows NAME => VALUE and
// NAME REG_SZ VALUE.
var variablePattern = regexp.MustCompile(`(?m)^\s*([A-Za-z_][A-Za-z0-9_]*)(?:[ \t]*=|[ \t]+=>|[ \t]+REG_)`)

// variableNames are those of the variables that a text shows.
func variableNames(shown string) (all []string) {
	for _, m := range variablePattern.FindAllStringSubmatch(shown, -1) {
		all = append(all, m[1])
	}
	return all
}

// Install writes the file, and starts the service anew.
func (m *Manager) Install(ctx context.Context, text string) error {
	if err := m.write(text); err != nil {
		return err
	}
	return runAll(ctx, m.start)
}

// ErrNoManager is returned where no manager of services runs for this user.
var ErrNoManager = errors.New("no manager of services runs for this user here, as in a container or after su")

// Remove stops the service, and removes its file.
func (m *Manager) Remove(ctx context.Context) error {
	if _, ok := m.Answers(ctx); !ok {
		return ErrNoManager // the service may run all the same
	}
	if err := runAll(ctx, m.stop); err != nil {
		return err
	}
	if m.active != nil {
		if _, err := output(ctx, m.active); err == nil {
			return errors.New("it still runs")
		}
	}
	if err := os.Remove(m.File); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing the service: %w", err)
	}
	return runAll(ctx, m.afterRemoval)
}

// Said are the lines that the service has written last, as far as the manager keeps them.
func (m *Manager) Said(ctx context.Context) string {
	if m.logTail == nil {
		return ""
	}
	out, _ := output(ctx, m.logTail) // perhaps the manager keeps nothing
	return strings.TrimSpace(out)
}

// runAll runs commands until one fails that must not.
func runAll(ctx context.Context, steps []step) error {
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
