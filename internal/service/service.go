// Package service runs petrigate as a service of the user: systemd, launchd or the Task Scheduler starts it when
// the user logs in, and again when it has failed.
//
// A [Manager] writes a file that describes the service, and runs the programs of its system to start and to remove
// it. The first lines of the file name the configuration that it is for. A file without them was written by
// somebody else: it is never changed or removed.
//
// Libraries that do this were not taken: github.com/kardianos/service writes services of the whole machine on
// Windows, and escapes neither % nor $ in a unit of systemd.
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

// Name is that of the service, for all managers.
const Name = "petrigate"

// A Service is a proxy that shall run while the user is logged in.
type Service struct {
	Program     string   // an absolute path
	Args        []string // of the program
	Config      string   // the configuration, an absolute path
	Environment []Variable
}

// A Variable is one of the environment of the service. Its value stands in a file: it must be no secret.
type Variable struct{ Name, Value string }

// A System is what a manager has to know of this machine.
type System struct {
	OS   string // as runtime.GOOS
	Home string
	Env  func(string) (string, bool)
	UID  int
}

// env is a variable that is an absolute path; "": it is not set, or is none.
func (s System) env(name string) string {
	if value, _ := s.Env(name); filepath.IsAbs(value) {
		return value
	}
	return ""
}

// configDir is where programs of a Unix system have the configurations of a user.
func (s System) configDir() string {
	if dir := s.env("XDG_CONFIG_HOME"); dir != "" {
		return dir
	}
	return filepath.Join(s.Home, ".config")
}

// A Manager runs services of the user.
type Manager struct {
	Title string // of the program
	File  string // that describes the service
	// Variables is the file from which the service reads variables of its environment, if it reads any.
	Variables string
	// Log is the command that shows what the service says.
	Log string

	text   func(*Manager, Service) (string, error)
	encode func(string) []byte // nil: as UTF-8
	decode func([]byte) string

	probe        []string // a command that fails where no manager runs; it prints the environment of services, if it can
	start        []step
	stop         []step
	active       []string // a command that fails once the service is stopped; nil: none
	afterRemoval []step   // after the file is gone
	logTail      []string
}

// A step is a command.
type step struct {
	argv    []string
	lenient bool // it may fail
	retried bool // it may fail for a moment, while an earlier service still ends
}

// ManagerOf returns the manager of a system; nil: none is known.
func ManagerOf(s System) *Manager {
	switch s.OS {
	case "linux":
		return systemd(s)
	case "darwin":
		return launchd(s)
	case "windows":
		return taskScheduler(s)
	}
	return nil
}

// Text is the file that describes a service. It fails if the manager could not run such a service.
func (m *Manager) Text(s Service) (string, error) {
	for _, word := range append([]string{s.Program, s.Config}, s.Args...) {
		if strings.ContainsRune(word, 0) {
			return "", errors.New("a path has a zero byte")
		}
	}
	return m.text(m, s)
}

// mark is the line that tells petrigate its own files.
func mark(config string) string {
	quoted := strconv.QuoteToASCII(config)
	quoted = strings.ReplaceAll(quoted, "--", `-\x2d`) // which would end a comment of XML
	return "petrigate wrote this file for the configuration " + quoted + ". petrigate disconnect removes it."
}

var marked = regexp.MustCompile(`petrigate wrote this file for the configuration ("(?:[^"\\]|\\.)*")\. petrigate disconnect removes it\.`)

// An Installed is the service that is there.
type Installed struct {
	Exists bool
	Config string // the configuration that it is for; "": petrigate has not written the file
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
		i.Config, _ = strconv.Unquote(found[1]) // "" where somebody has edited it
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
