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

	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/text"
)

// commandTimeout is the time limit for each of the manager's commands.
const commandTimeout = time.Minute

// output runs one of the manager's commands and returns its output.
func output(ctx context.Context, argv []string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	out, err := c.Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		said, _, _ := strings.Cut(strings.TrimSpace(string(failed.Stderr)), "\n") // the lines after the first contain only advice
		if said != "" {
			err = errors.New(text.Escape(said))
		}
		err = fmt.Errorf("%s: %w", strings.Join(argv, " "), err)
	}
	return string(out), err
}

// Answers reports whether the service manager responds. It also returns the names of the
// environment variables that a service will have. They include the variables that the manager
// reports and the variables in the file m.Variables.
func (m *Manager) Answers(ctx context.Context) (variables []string, ok bool) {
	out, err := output(ctx, m.probe)
	if err != nil {
		return nil, false
	}
	src, _ := os.ReadFile(m.Variables) // like systemd, ignore a file that cannot be read
	return append(variableNames(out), variableNames(string(src))...), true
}

// variablePattern matches a variable in the output of a service manager or in a file of environment
// variables: NAME=VALUE, NAME => VALUE (launchd), or NAME REG_SZ VALUE (Windows).
var variablePattern = regexp.MustCompile(`(?m)^\s*([A-Za-z_][A-Za-z0-9_]*)(?:[ \t]*=|[ \t]+=>|[ \t]+REG_)`)

// variableNames returns the names of all variables that [variablePattern] matches.
func variableNames(shown string) []string {
	return list.Map(variablePattern.FindAllStringSubmatch(shown, -1), func(m []string) string { return m[1] })
}

// Install writes the service file and starts the service, or restarts it if it is already running.
func (m *Manager) Install(ctx context.Context, text string) error {
	if err := m.write(text); err != nil {
		return err
	}
	return runAll(ctx, m.start)
}

// ErrNoManager means that no service manager is running for this user.
var ErrNoManager = errors.New("no service manager runs for this user, for example in a container or after su")

// Remove stops the service and removes the service file.
func (m *Manager) Remove(ctx context.Context) error {
	if _, ok := m.Answers(ctx); !ok {
		return ErrNoManager // without a service manager, the service cannot be stopped, so its file is kept
	}
	if err := runAll(ctx, m.stop); err != nil {
		return err
	}
	if m.active != nil {
		if _, err := output(ctx, m.active); err == nil {
			return errors.New("it is still running")
		}
	}
	if err := os.Remove(m.File); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing the service: %w", err)
	}
	return runAll(ctx, m.afterRemoval)
}

// LastLogLines returns the last lines of the service's log, or "" if the manager keeps no log.
func (m *Manager) LastLogLines(ctx context.Context) string {
	if m.logTail == nil {
		return ""
	}
	out, _ := output(ctx, m.logTail) // an error may mean that the manager keeps no log
	return strings.TrimSpace(out)
}

// runAll runs the steps in order. It stops at the first failure that is not ignored.
func runAll(ctx context.Context, steps []step) error {
	for _, s := range steps {
		if err := s.run(ctx); err != nil && !s.lenient {
			return err
		}
	}
	return nil
}

// run runs the command of the step. If the command fails and s.retried is set, run repeats it
// several times with increasing pauses.
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
