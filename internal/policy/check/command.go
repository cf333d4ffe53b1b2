package check

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/text"
)

// MissingCommands returns a problem for each server command that cannot be run on this machine. The
// problem is an error if the proxy is about to start. If the configuration is only being checked,
// the problem is a warning, because the configuration may be meant for another machine.
func MissingCommands(c *config.Config, severity diag.Severity) diag.List {
	var problems diag.List
	code := codeNoCommand
	if severity == diag.Warning {
		code = codeNoCommandHere
	}
	for _, s := range c.Servers {
		if s.Disabled || s.Command == "" || c.TextOnly && strings.Contains(s.Command+s.Cwd+s.Env["PATH"], "${") {
			continue
		}
		if err := findCommand(s); err != nil {
			p := Warning(code, s.Position, fmt.Sprintf("the command %q of the server %q cannot be run: %v", s.Command, s.Name, text.Innermost(err)), commandHint(s.Command))
			p.Severity = severity
			problems = append(problems, p)
		}
	}
	return problems
}

// findCommand looks up a server's command as the operating system would when starting the server. A
// relative path is relative to the server's directory. If the server has its own PATH, findCommand
// searches that PATH.
func findCommand(s config.Server) error {
	path, own := s.Env["PATH"]
	bare := filepath.Base(s.Command) == s.Command
	switch {
	case !bare && !filepath.IsAbs(s.Command):
		_, err := exec.LookPath(filepath.Join(s.Cwd, s.Command))
		return err
	case !bare || !own || runtime.GOOS == "windows":
		_, err := exec.LookPath(s.Command)
		return err
	}
	for _, dir := range filepath.SplitList(path) {
		if _, err := exec.LookPath(filepath.Join(dir, s.Command)); err == nil && filepath.IsAbs(dir) {
			return nil
		}
	}
	return errors.New("executable file not found in the PATH of the server")
}

func commandHint(command string) string {
	switch {
	case strings.ContainsRune(filepath.Base(command), ' ') || strings.Contains(command, " -"):
		return `write one program as the command, and its arguments in "args"`
	case strings.ContainsRune(command, filepath.Separator):
		return "install it, or correct the path; a relative one is relative to the configuration file"
	}
	return "install it, or write its absolute path: clients start the proxy with a minimal PATH"
}
