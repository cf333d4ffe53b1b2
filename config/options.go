package config

import (
	"errors"
	"os"
	"path/filepath"
)

// Options selects the sources of a configuration. The zero value searches the usual locations and
// uses the environment of the process.
type Options struct {
	Path  string                      // the file (--config); empty: search for one
	Env   func(string) (string, bool) // nil: os.LookupEnv
	Flags map[string]string           // settings from the command line, keyed by name in the file ("log.level"); paths are relative to the working directory of the process

	// WorkDir also searches ./petrigate.yaml, before the user's file. Only commands that people
	// type set it: an agent might be able to write to the working directory of a server. A file
	// found there is treated as with Found.
	WorkDir bool

	// Found means that the file was discovered in a directory instead of named by a person, and
	// might belong to somebody else. Unless Trust accepts its bytes, it is read as text: see
	// [Config.TextOnly].
	Found bool
	Trust func(path string, src []byte) bool // nil: trust no discovered file
	Kept  Fetch                              // replaces Fetch for files that are read as text, and makes no network connections; nil: no remote bases

	// Unsaved returns the text of a file that is open in an editor. It takes precedence over the
	// disk for the configuration, rules and nets. nil: always read the disk.
	Unsaved func(path string) (text []byte, ok bool)

	Fetch Fetch // fetches remote bases of "extends"; nil: no remote bases

	text bool // read the file as text

	// Require lists bases that the configuration must extend, in addition to those of the
	// environment variable PETRIGATE_REQUIRE_BASE. For the syntax see basefile.Demanded.
	Require []string

	// Partial leaves out remote bases that cannot be read or verified, with a warning, and requires
	// no bases. Editors use it, and commands that only locate records. Code that decides
	// calls must not set it.
	Partial bool
}

// A Fetch reads the contents of URLs. It returns all of them or an error.
type Fetch func(addresses ...string) ([][]byte, error)

var (
	errNoFetch = errors.New("this command reads no base policy from a URL")
	errNotKept = errors.New("add --config: petrigate has no copy of it, and opens no connection for a configuration that was not named")
)

func (o Options) fetch(addresses ...string) ([][]byte, error) {
	switch {
	case o.text && o.Kept == nil:
		return nil, errNotKept
	case o.text:
		all, err := o.Kept(addresses...)
		if err != nil && !o.Partial {
			err = errNotKept
		}
		return all, err
	case o.Fetch == nil:
		return nil, errNoFetch
	}
	return o.Fetch(addresses...)
}

func (o Options) lookup(name string) (string, bool) {
	if o.Env == nil {
		return os.LookupEnv(name)
	}
	return o.Env(name)
}

// userDir returns the XDG configuration directory (on Windows, APPDATA), or "" if it is unknown.
func (o Options) userDir() string {
	if dir, ok := o.lookup("XDG_CONFIG_HOME"); ok && filepath.IsAbs(dir) {
		return dir
	}
	if dir, ok := o.lookup("APPDATA"); ok && filepath.Separator == '\\' && dir != "" {
		return dir
	}
	if home, ok := o.lookup("HOME"); ok && home != "" {
		return filepath.Join(home, ".config")
	}
	return ""
}
