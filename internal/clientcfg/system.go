package clientcfg

import (
	"cmp"
	"path/filepath"
	"strings"
)

// A System describes a machine and a user. It determines where clients keep the user's
// configuration files.
type System struct {
	OS   string // a value of runtime.GOOS; all but "darwin" and "windows" are treated like Linux
	Home string
	Env  func(string) (string, bool)
}

// path joins path elements with the system's separator.
func (s System) path(parts ...string) string {
	if s.OS == "windows" {
		return strings.ReplaceAll(strings.Join(parts, `\`), "/", `\`)
	}
	return filepath.ToSlash(filepath.Join(parts...))
}

// env returns the value of an environment variable, or "" if it is not set.
func (s System) env(name string) string {
	value, _ := s.Env(name)
	return value
}

// directory returns the directory named by the given environment variable. If the variable is not
// set, it returns the given directory below the home directory.
func (s System) directory(variable, below string) string {
	return cmp.Or(s.env(variable), s.path(s.Home, below))
}

// settings returns the directory where desktop programs keep their settings.
func (s System) settings() string {
	switch s.OS {
	case "darwin":
		return s.path(s.Home, "Library/Application Support")
	case "windows":
		return s.directory("APPDATA", "AppData/Roaming")
	}
	return s.xdg()
}

// xdg returns the XDG configuration directory, which Unix programs also use on macOS.
func (s System) xdg() string {
	if dir := s.env("XDG_CONFIG_HOME"); strings.HasPrefix(dir, "/") {
		return dir
	}
	return s.path(s.Home, ".config")
}

// inHome returns a function that returns the given path below the home directory of a System.
func inHome(path string) func(System) []string {
	return func(s System) []string { return []string{s.path(s.Home, path)} }
}

// inDirectory returns a function that returns the path of a file in a client's configuration
// directory. The environment variable contains the path of that directory. If the variable is not
// set, the directory is at the given path below the home directory.
func inDirectory(variable, below, file string) func(System) []string {
	return func(s System) []string { return []string{s.path(s.directory(variable, below), file)} }
}
