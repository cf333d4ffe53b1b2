package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ErrNotFound is returned if no path is given and no file exists in any of the usual locations. It
// is wrapped in an error that lists these locations.
var ErrNotFound = errors.New("no configuration file")

const fileName = "petrigate.yaml"

// Lookup returns the path of the file that [Load] reads. found reports whether the file was
// discovered in the working directory rather than named by a person.
func Lookup(o Options) (path string, found bool, err error) {
	if o.Path != "" {
		return o.Path, o.Found, nil
	}
	if path, ok := o.lookup("PETRIGATE_CONFIG"); ok && path != "" {
		return path, false, nil
	}
	var places []string
	if o.WorkDir {
		places = append(places, fileName)
	}
	if file := UserFile(o); file != "" {
		places = append(places, file)
	}
	for _, place := range places {
		// a file that exists but cannot be accessed is an error, not a reason to use another file
		if _, err := os.Stat(place); !errors.Is(err, os.ErrNotExist) {
			return place, place == fileName, nil
		}
	}
	return "", false, fmt.Errorf("%w: --config and PETRIGATE_CONFIG are not set, looked for %s", ErrNotFound, strings.Join(places, ", "))
}

// UserFile returns the path of the user's configuration file, the last location that [Lookup]
// searches. It returns the empty string if the user's configuration directory is unknown.
func UserFile(o Options) string {
	if dir := o.userDir(); dir != "" {
		return filepath.Join(dir, "petrigate", fileName)
	}
	return ""
}

// Load finds, reads and checks a configuration. If the configuration has problems, the error is an
// [ErrorList]; if a file cannot be read, it is an [Error] without a line; if no file exists, it is
// [ErrNotFound].
func Load(o Options) (*Config, error) {
	path, src, err := open(&o)
	if err != nil {
		return nil, err
	}
	c, err := Parse(path, src, o)
	if err == nil {
		err = o.checkRequired(path, c.Bases)
	}
	if err != nil {
		return nil, err
	}
	if writable(path) {
		c.Warnings = append(c.Warnings, Error{File: path, Msg: "any user can change this file", Hint: "chmod o-w"})
	}
	return c, nil
}

// Bare returns the configuration of a proxy without a configuration file: the defaults, overridden
// by the environment and the flags. Such a configuration extends no base policies, so Bare fails if
// one is required.
func Bare(o Options) (*Config, error) {
	if err := o.checkRequired("", nil); err != nil {
		return nil, err
	}
	return Parse("", []byte("version: 1"), o)
}

// open finds and reads a configuration. It sets o.text if the file must be read as plain text.
func open(o *Options) (path string, src []byte, err error) {
	path, found, err := Lookup(*o)
	if err != nil {
		return "", nil, err
	}
	e := environment{unsaved: o.Unsaved}
	if src, err = e.readFile(path); err != nil {
		e := Error{File: path, Msg: fmt.Sprintf("reading the configuration: %v", cause(err))}
		if errors.Is(err, os.ErrPermission) {
			e.Hint = "let your user read it: ls -l shows its owner"
		}
		return "", nil, e
	}
	o.text = found && (o.Trust == nil || !o.Trust(path, src))
	return path, src, nil
}

// Servers finds a configuration but reads only its servers. It is meant for commands that use a
// single server. Problems with a server, such as an unset variable, are reported in the server's
// Problems field. The errors are the same as those of [Load].
func Servers(o Options) (file string, servers []Server, err error) {
	file, src, err := open(&o)
	if err != nil {
		return "", nil, err
	}
	root, ok := readConfiguration(file, src, o)
	if ok {
		servers = readServersAlone(root)
	}
	if err := root.err(); err != nil {
		return "", nil, err
	}
	return file, servers, nil
}

// Parse checks the bytes of a configuration. name is the path of its file, for error messages and
// as the base for relative paths; Options.Path is ignored. Parse does not check that the
// configuration extends the required base policies (see [Options].Require). The error is an
// [ErrorList]. If the configuration is an empty mapping, Parse returns the defaults, overridden by
// the environment and the flags.
func Parse(name string, src []byte, o Options) (*Config, error) {
	o.text = o.text || o.Found && (o.Trust == nil || !o.Trust(name, src))
	root, ok := readConfiguration(name, src, o)
	c := &Config{File: name, Default: "allow", Mode: "enforce", Advertise: "all", State: State{Driver: defaultDriver(name), Sync: "full"}, Audit: Audit{Arguments: "hash"}, TextOnly: o.text}
	l := newLayers()
	l.reader = baseReader{o.fetch, o.Partial}
	if ok {
		readRoot(root, c, l)
		c.origin = origin{root.source, root.node}
		c.extend(root, l.bases, l)
	}
	l.merge(o, c, &root.errs)
	c.settle(root.decoder, l)
	for _, b := range l.bases {
		c.checkNarrows(root, b, l)
	}
	if err := root.err(); err != nil {
		return nil, err
	}
	root.recordSum(name, src)
	c.Warnings, c.Sums, c.secrets = root.warns, root.sums, func() []string { return slices.Clone(root.environment.secrets) }
	c.References, c.Targets = root.references, root.targets
	return c, nil
}

// readConfiguration parses the bytes into a tree. If ok is false, the bytes could not be parsed;
// the reason is recorded in the problems of root.
func readConfiguration(name string, src []byte, o Options) (root Value, ok bool) {
	d := &decoder{
		source:      &source{name: name},
		environment: &environment{dir: filepath.Dir(name), lookup: o.lookup, unsaved: o.Unsaved, text: o.text},
	}
	n := d.read(src)
	switch {
	case n != nil:
		d.markSecrets(n)
	case len(d.errs) == 0:
		d.add(1, 1, "the configuration is empty", "write at least mcpServers")
	}
	return Value{decoder: d, node: n, what: "the configuration"}, n != nil
}
