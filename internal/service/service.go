// Package service runs petrigate as a service of the user: systemd, launchd or the Task Scheduler
// starts it when the user logs in, and again after it has failed.
//
// A [Manager] writes a file that describes the service and runs the programs of its system that
// start and remove it. The first lines of the file name the configuration of the service. A file
// without these lines was not written by petrigate and is never changed or removed.
//
// The package does not use github.com/kardianos/service, which on Windows installs services of the
// whole machine and escapes neither % nor $ in a systemd unit.
package service

import (
	"bytes"
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

// Name is the name of the service in all managers.
const Name = "petrigate"

// A Service describes a proxy that runs while the user is logged in.
type Service struct {
	Program     string   // absolute path of the program
	Args        []string // arguments of the program
	Config      string   // absolute path of the configuration
	Environment []Variable
}

// A Variable is an environment variable of the service. Its value is stored in a file and must not
// be a secret.
type Variable struct{ Name, Value string }

// A System describes this machine to a manager.
type System struct {
	OS   string // as in runtime.GOOS
	Home string
	Env  func(string) (string, bool)
	UID  int
}

// env returns the value of a variable that holds an absolute path, or "" if it is unset or not an
// absolute path.
func (s System) env(name string) string {
	if value, _ := s.Env(name); filepath.IsAbs(value) {
		return value
	}
	return ""
}

// configDir returns the folder for the configurations of a Unix user.
func (s System) configDir() string {
	if dir := s.env("XDG_CONFIG_HOME"); dir != "" {
		return dir
	}
	return filepath.Join(s.Home, ".config")
}

// A Manager installs and removes a service of the user.
type Manager struct {
	Title string // name of the service manager
	File  string // file that describes the service
	// Variables is the file with environment variables for the service; "": the manager supports no
	// such file.
	Variables string
	// Log is the command that shows the log of the service.
	Log string

	text   func(*Manager, Service) (string, error)
	encode func(string) []byte // nil: as UTF-8
	decode func([]byte) string

	probe        []string // command that fails if no manager runs; it prints the environment of services if possible
	start        []step
	stop         []step
	active       []string // command that fails once the service is stopped; nil: no such command
	afterRemoval []step   // run after the file was removed
	logTail      []string
}

// A step is a command.
type step struct {
	argv    []string
	lenient bool // failure is ignored
	retried bool // repeated on failure: it fails while an earlier service is still ending
}

// Text returns the content of the file that describes s. It fails if the manager could not run such
// a service.
func (m *Manager) Text(s Service) (string, error) {
	for _, word := range append([]string{s.Program, s.Config}, s.Args...) {
		if strings.ContainsRune(word, 0) {
			return "", errors.New("a path has a zero byte")
		}
	}
	return m.text(m, s)
}

// mark returns the line that identifies a file as written by petrigate.
func mark(config string) string {
	quoted := strconv.QuoteToASCII(config)
	quoted = strings.ReplaceAll(quoted, "--", `-\x2d`) // "--" would end an XML comment
	return "petrigate wrote this file for the configuration " + quoted + ". petrigate disconnect removes it."
}

var marked = regexp.MustCompile(`petrigate wrote this file for the configuration ("(?:[^"\\]|\\.)*")\. petrigate disconnect removes it\.`)

// An Installed describes the installed service.
type Installed struct {
	Exists bool
	Config string // configuration of the service; "": petrigate did not write the file
	Text   string
}

// Installed reads the file that describes the service.
func (m *Manager) Installed() (Installed, error) {
	src, err := os.ReadFile(m.File)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Installed{}, nil
	case err != nil:
		return Installed{}, fmt.Errorf("reading the service: %w", err)
	}
	i := Installed{Exists: true, Text: string(src)}
	if m.decode != nil {
		i.Text = m.decode(src)
	}
	if found := marked.FindStringSubmatch(i.Text); found != nil {
		i.Config, _ = strconv.Unquote(found[1]) // "" if somebody has edited the line
	}
	return i, nil
}

// write writes the file that describes the service.
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
