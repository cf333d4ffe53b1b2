package config

import (
	"errors"
	"os"
	"path/filepath"
)

// Options determine where a configuration comes from. With the zero value, the usual locations are
// searched and the environment of the process is used.
type Options struct {
	Path  string                      // path of the file (--config); if empty, the usual locations are searched
	Env   func(string) (string, bool) // looks up environment variables; nil means os.LookupEnv
	Flags map[string]string           // settings from the command line, keyed by name, such as "log.level"; paths are relative to the working directory of the process

	// WorkDir adds ./petrigate.yaml to the searched locations, before the user's file. It is set
	// only by commands that people type, because an agent might be able to write to a server's
	// working directory. A file found there is treated as if Found were set.
	WorkDir bool

	// Found means that the file was not named by a person, but discovered in a directory, so it
	// might belong to somebody else. Unless Trust accepts its bytes, the file is read as plain
	// text; see [Config.TextOnly].
	Found bool
	Trust func(path string, src []byte) bool // reports whether to trust a discovered file; nil means never
	Kept  Fetch                              // replaces Fetch for a file that is read as plain text, and must not access the network; if nil, a remote base policy in this file is an error

	// Unsaved returns the text of a file that is open in an editor. For the configuration, rules,
	// nets and local base policies, this text takes precedence over the file on disk. If Unsaved is
	// nil, all files are read from disk.
	Unsaved func(path string) (text []byte, ok bool)

	Fetch Fetch // fetches the remote base policies listed under "extends"; if nil, a remote base policy is an error

	text bool // whether to read the file as plain text

	// Require lists base policies that the configuration must extend, in addition to those in the
	// environment variable PETRIGATE_REQUIRE_BASE. For the syntax, see basefile.Demanded.
	Require []string

	// If Partial is set, a remote base policy that cannot be read or verified is skipped with a
	// warning, and Require and PETRIGATE_REQUIRE_BASE are ignored. Partial is meant for editors,
	// and for commands that only need the location of the database. Code that decides on calls must
	// not set it.
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

// userDir returns the XDG configuration directory or, on Windows, APPDATA. If the directory is
// unknown, it returns the empty string.
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
