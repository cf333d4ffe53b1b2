// Package process runs MCP servers as child processes: it sets up their pipes and environment, and
// ends their whole process trees.
package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// inherited reports whether children inherit the named environment variable. Other variables are
// not inherited, because they might hold secrets of this program or of another server.
func inherited(name string) bool {
	if strings.HasPrefix(name, "LC_") {
		return true
	}
	if runtime.GOOS == "windows" {
		name = strings.ToUpper(name)
	}
	return slices.Contains([]string{
		"PATH", "HOME", "LANG", "LANGUAGE", "TMPDIR", "TMP", "TEMP", "USER", "LOGNAME", "SHELL", "TERM", "TZ",
		"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "APPDATA", "LOCALAPPDATA", "PROGRAMFILES",
		"PROGRAMDATA", "USERPROFILE", "USERNAME", "HOMEDRIVE", "HOMEPATH", "PROCESSOR_ARCHITECTURE",
	}, name)
}

// Environment returns a child's environment: the variables that it inherits and the configured
// ones.
func Environment(ours []string, own map[string]string) []string {
	var env []string
	for _, kv := range ours {
		name, value, _ := strings.Cut(kv, "=")
		_, replaced := own[name]
		if inherited(name) && !replaced && !strings.HasPrefix(value, "()") { // a value that begins with "()" is an exported shell function
			env = append(env, kv)
		}
	}
	for name, value := range own {
		env = append(env, name+"="+value)
	}
	slices.Sort(env)
	return env
}

// Find resolves a command as the child would. A relative path starts from dir. A bare name is
// looked up in the directories listed in PATH. The value of PATH comes from own, the environment
// configured for the child. If own does not contain PATH, and always on Windows, Find uses this
// process's PATH.
func Find(command, dir string, own map[string]string) (string, error) {
	path, ok := own["PATH"]
	bare := filepath.Base(command) == command
	switch {
	case !bare && !filepath.IsAbs(command):
		return exec.LookPath(filepath.Join(dir, command))
	case !bare || !ok || runtime.GOOS == "windows":
		return exec.LookPath(command)
	}
	for _, d := range filepath.SplitList(path) {
		if !filepath.IsAbs(d) {
			continue // like package exec, do not search the current directory
		}
		if found, err := exec.LookPath(filepath.Join(d, command)); err == nil {
			return found, nil
		}
	}
	return "", &exec.Error{Name: command, Err: exec.ErrNotFound}
}

// StartError returns an error that explains why a command cannot be started.
func StartError(command string, err error) error {
	reason := err
	if lookup, ok := errors.AsType[*exec.Error](err); ok {
		reason = lookup.Err
	} else if path, ok := errors.AsType[*fs.PathError](err); ok {
		reason = path.Err
	}
	return fmt.Errorf("starting %q: %w", command, reason)
}

// Describe formats how a process ended, for use in error messages.
func Describe(s *os.ProcessState) string {
	if s == nil {
		return "the server's process has exited"
	}
	return "the server's process exited: " + s.String()
}
