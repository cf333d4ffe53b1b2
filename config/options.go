package config

import (
	"errors"
	"os"
	"path/filepath"
)

// Options select the sources of a configuration. The zero value searches the usual locations and
// uses the environment of the process.
type Options struct {
	Path  string                      // path of the file (--config); empty: search for a file
	Env   func(string) (string, bool) // looks up environment variables; nil: os.LookupEnv
	Flags map[string]string           // settings from the command line, by their names in the file (such as "log.level"); paths are relative to the working directory of the process

	// WorkDir adds ./petrigate.yaml to the searched locations, before the user's file. Only
	// commands that people type set it, because an agent might be able to write to a server's
	// working directory. A file found there is treated as if Found were set.
	WorkDir bool

	// Found means that no person named the file: it was discovered in a directory and might belong
	// to somebody else. Unless Trust accepts its bytes, the file is read as text; see
	// [Config.TextOnly].
	Found bool
	Trust func(path string, src []byte) bool // reports whether a discovered file is trusted; nil: no discovered file is trusted
	Kept  Fetch                              // used instead of Fetch for files that are read as text; must not use the network; nil: such files have no remote base policies

	// Unsaved returns the text of a file that is open in an editor. For the configuration, rules
	// and nets, this text takes precedence over the file on disk. If Unsaved is nil, files are
	// always read from disk.
	Unsaved func(path string) (text []byte, ok bool)

	Fetch Fetch // fetches the remote base policies that "extends" lists; nil: there are no remote base policies

	text bool // whether the file is read as text

	// Require lists base policies that the configuration must extend, in addition to those in the
	// environment variable PETRIGATE_REQUIRE_BASE. For the syntax, see basefile.Demanded.
	Require []string

	// Partial has two effects: remote base policies that cannot be read or verified are omitted
	// with a warning, and no base policies are required. It is used by editors, and by commands
	// that only locate records. Code that decides calls must not set it.
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

// userDir returns the XDG configuration directory or, on Windows, APPDATA. It returns the empty
// string if the directory is unknown.
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
