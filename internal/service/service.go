// Package service runs petrigate as a user service: systemd, launchd or the Task Scheduler starts
// it when the user logs in, and restarts it after a failure.
//
// A [Manager] writes a file that describes the service, and runs the operating system's commands
// that start and remove the service. Near its beginning, the file contains a line with the path of
// the service's configuration. If a file lacks this line, petrigate did not write it, and never
// changes or removes it.
//
// The package does not use github.com/kardianos/service, because on Windows that library installs
// services for the whole machine, and in a systemd unit it escapes neither % nor $.
package service

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/petrigate/petrigate/internal/textfile"
)

// Name is the service's name in all managers.
const Name = "petrigate"

// A Service is a proxy that runs while the user is logged in.
type Service struct {
	Program     string   // absolute path of the program
	Args        []string // arguments of the program
	Config      string   // absolute path of the configuration
	Environment []Variable
}

// A Variable is an environment variable of the service. It must not be secret, because it is stored
// in a file.
type Variable struct{ Name, Value string }

// A System describes this machine to a [Manager].
type System struct {
	OS   string // a value of runtime.GOOS
	Home string
	Env  func(string) (string, bool)
	UID  int
}

// env returns the value of an environment variable, or "" if it is not an absolute path.
func (s System) env(name string) string {
	if value, _ := s.Env(name); filepath.IsAbs(value) {
		return value
	}
	return ""
}

// configDir returns the user's configuration directory on a Unix system.
func (s System) configDir() string {
	return cmp.Or(s.env("XDG_CONFIG_HOME"), filepath.Join(s.Home, ".config"))
}

// A Manager installs and removes a user service.
type Manager struct {
	Title string // name of the service manager
	File  string // path of the service file
	// Variables is the path of the file with the service's environment variables; empty if the
	// manager has no such file.
	Variables string
	// Log is the command that displays the service's log.
	Log string

	text   func(*Manager, Service) (string, error)
	encode func(string) []byte // encodes the service file; nil means UTF-8
	decode func([]byte) string

	probe        []string // command that fails if no manager is running; it may print the environment of services
	start        []step
	stop         []step
	active       []string // command that fails if the service has stopped; may be nil
	afterRemoval []step   // steps to run after removing the file
	logTail      []string
}

// A step is a command to run.
type step struct {
	argv    []string
	lenient bool // whether a failure is ignored
	retried bool // whether to repeat the command if it fails; set if the previous service may still be stopping
}

// Text returns the content of the service file for the service s. It returns an error if the
// manager cannot run such a service.
func (m *Manager) Text(s Service) (string, error) {
	for _, word := range append([]string{s.Program, s.Config}, s.Args...) {
		if strings.ContainsRune(word, 0) {
			return "", errors.New("a path contains a zero byte")
		}
	}
	return m.text(m, s)
}

// mark returns the line that marks a file as written by petrigate.
func mark(config string) string {
	quoted := strconv.QuoteToASCII(config)
	quoted = strings.ReplaceAll(quoted, "--", `-\x2d`) // "--" is not allowed in an XML comment
	return "petrigate wrote this file for the configuration " + quoted + ". petrigate disconnect removes it."
}

var marked = regexp.MustCompile(`petrigate wrote this file for the configuration ("(?:[^"\\]|\\.)*")\. petrigate disconnect removes it\.`)

// An Installation describes the installed service file, if any.
type Installation struct {
	Exists bool
	Config string // configuration of the service; empty if petrigate did not write the file
	Text   string
}

// Installed reads the service file and returns a description of it. If the file does not exist,
// Installed returns the zero Installation.
func (m *Manager) Installed() (Installation, error) {
	src, err := os.ReadFile(m.File)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Installation{}, nil
	case err != nil:
		return Installation{}, fmt.Errorf("reading the service: %w", err)
	}
	i := Installation{Exists: true, Text: string(src)}
	if m.decode != nil {
		i.Text = m.decode(src)
	}
	if found := marked.FindStringSubmatch(i.Text); found != nil {
		i.Config, _ = strconv.Unquote(found[1]) // Unquote returns "" if the user has edited the quoted path and made it invalid
	}
	return i, nil
}

// write writes the service file.
func (m *Manager) write(text string) error {
	src := []byte(text)
	if m.encode != nil {
		src = m.encode(text)
	}
	if old, err := os.ReadFile(m.File); err == nil && bytes.Equal(old, src) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(m.File), 0o700); err != nil {
		return fmt.Errorf("making the folder of the service: %w", err)
	}
	return textfile.Replace(m.File, src)
}
