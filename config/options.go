package config

import (
	"errors"
	"os"
	"path/filepath"
)

// Options selects the sources of a configuration. The zero value searches the usual locations and
// uses the process's environment.
type Options struct {
	Path  string                      // path of the file (--config); empty: search for a file
	Env   func(string) (string, bool) // nil: os.LookupEnv
	Flags map[string]string           // settings from the command line, by their names in the file ("log.level"); paths are relative to the process's working directory

	// WorkDir makes the search include ./petrigate.yaml, before the user's file. Only commands that
	// people type set it, because an agent might be able to write to a server's working directory.
	// A file found there is treated as with Found.
	WorkDir bool

	// Found means that the file was discovered in a directory, rather than named by a person, and
	// might belong to somebody else. Unless Trust accepts its bytes, it is read as text; see
	// [Config.TextOnly].
	Found bool
	Trust func(path string, src []byte) bool // nil: trust no discovered file
	Kept  Fetch                              // replaces Fetch for files that are read as text and must not use the network; nil: no remote base policies

	// Unsaved returns the text of a file that is open in an editor. For the configuration, rules
	// and nets, this text takes precedence over the file on disk. If Unsaved is nil, files are
	// always read from disk.
	Unsaved func(path string) (text []byte, ok bool)

	Fetch Fetch // fetches remote base policies listed under "extends"; nil: no remote base policies

	text bool // read the file as text

	// Require lists base policies that the configuration must extend, in addition to those in the
	// environment variable PETRIGATE_REQUIRE_BASE. See basefile.Demanded for the syntax.
	Require []string

	// Partial omits remote base policies that cannot be read or verified, with a warning, and does
	// not require any base policies. It is used by editors and by commands that only locate
	// records. Code that decides calls must not set it.
	Partial bool
}

// A Fetch reads the contents of several URLs. It returns either all of them or an error.
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

// userDir returns the XDG configuration directory (on Windows, APPDATA), or the empty string if it
// is unknown.
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
