package config

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Options selects the sources of a configuration. The zero value searches the
// usual places and uses the environment of the process.
type Options struct {
	Path  string                      // of the file (--config); "": look for one
	Env   func(string) (string, bool) // nil: os.LookupEnv
	Flags map[string]string           // settings given on the command line, by their name in the file: "log.level"; paths are the process's

	// WorkDir searches ./petrigate.yaml, before the file of the user.
	// It is for verbs that people type: an agent may be able to write the
	// directory that a server is started in. A file that is found so is read as with Found.
	WorkDir bool

	// Found means that no person has named the file: it was found in a directory, and may be somebody
	// else's. Unless Trust accepts its bytes, it is read as text: see [Config.TextOnly].
	Found bool
	Trust func(path string, src []byte) bool // nil: no file that was found is trusted
	Kept  Fetch                              // takes the place of Fetch for what is read as text, and asks no other machine; nil: no base at an address is taken

	// Unsaved returns the text of a file that somebody has open in an editor. It
	// stands for what is on the disk, of the configuration, of rules and of nets; nil: there
	// is none.
	Unsaved func(path string) (text []byte, ok bool)

	Fetch Fetch // for "extends"; nil: no base at an address is taken

	text bool // the file is read as text

	// Require are bases that the configuration has to extend, beside those that the environment
	// names in PETRIGATE_REQUIRE_BASE. See basefile.Demanded for their form.
	Require []string

	// Partial leaves out a base at an address that cannot be read, or is not what was promised,
	// with a warning, and requires none. It is for an editor, and for who looks where records are: never
	// for what decides.
	Partial bool
}

// A Fetch reads what is at addresses: all of it, or nothing.
type Fetch func(addresses ...string) ([][]byte, error)

var (
	errNoFetch = errors.New("no address is read here")
	errNotKept = errors.New("petrigate has no copy of it, and connects to nothing for a configuration that nobody has named: add --config")
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

// ErrNotFound is returned, wrapped with the places searched, if no path is given
// and none of the usual places has a file.
var ErrNotFound = errors.New("no configuration file")

const fileName = "petrigate.yaml"

// Lookup returns the file that [Load] reads, and whether it was found in the working directory: nobody has
// named it then.
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
		// A file that cannot be looked at is still the one that is meant.
		if _, err := os.Stat(place); !errors.Is(err, os.ErrNotExist) {
			return place, place == fileName, nil
		}
	}
	return "", false, fmt.Errorf("%w: --config and PETRIGATE_CONFIG are not set, looked for %s", ErrNotFound, strings.Join(places, ", "))
}

// UserFile returns the file of the user, which [Lookup] finds where no other is named; "": no place
// for it is known.
func UserFile(o Options) string {
	if dir := o.userDir(); dir != "" {
		return filepath.Join(dir, "petrigate", fileName)
	}
	return ""
}

// userDir returns the XDG configuration directory, or "" if it is not known.
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

// Load finds, reads and checks a configuration. Problems in it are an
// [ErrorList]; a file that cannot be read is an [Error] without a line; no
// file at all is [ErrNotFound].
func Load(o Options) (*Config, error) {
	path, src, err := open(&o)
	if err != nil {
		return nil, err
	}
	c, err := Parse(path, src, o)
	if err == nil {
		err = o.required(path, c.Bases)
	}
	if err != nil {
		return nil, err
	}
	if writable(path) {
		c.Warnings = append(c.Warnings, Error{File: path, Msg: "anybody may change this file", Hint: "chmod o-w"})
	}
	return c, nil
}

// Bare returns the configuration of a proxy that has no file: the defaults, overridden by the
// environment and the flags. It extends no base policy, so where one is required it is an error.
func Bare(o Options) (*Config, error) {
	if err := o.required("", nil); err != nil {
		return nil, err
	}
	return Parse("", []byte("version: 1"), o)
}

// open finds and reads a configuration, and notes in o whether it is read as text.
func open(o *Options) (path string, src []byte, err error) {
	path, found, err := Lookup(*o)
	if err != nil {
		return "", nil, err
	}
	e := environment{unsaved: o.Unsaved}
	if src, err = e.readFile(path); err != nil {
		e := Error{File: path, Msg: fmt.Sprintf("reading the configuration: %v", cause(err))}
		if errors.Is(err, os.ErrPermission) {
			e.Hint = "let your user read it: ls -l shows whose it is"
		}
		return "", nil, e
	}
	o.text = found && (o.Trust == nil || !o.Trust(path, src))
	return path, src, nil
}

// Servers finds and reads the servers of a configuration, for verbs about one of
// them. It reads no other section, and reports the problems of a server, such as an
// unset variable, only in its Problems. Its errors are those of [Load].
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

// Parse checks the bytes of a configuration and ignores Options.Path. Relative
// paths start at the directory of name. The error is an [ErrorList]. The bytes {}
// give the defaults, overridden by the environment and the flags.
func Parse(name string, src []byte, o Options) (*Config, error) {
	o.text = o.text || o.Found && (o.Trust == nil || !o.Trust(name, src))
	root, ok := readConfiguration(name, src, o)
	c := &Config{File: name, Default: "allow", Mode: "enforce", Advertise: "all", State: State{Driver: defaultDriver(name), Sync: "full"}, Audit: Audit{Arguments: "hash"}, TextOnly: o.text}
	l := newLayers()
	l.from = baseReader{o.fetch, o.Partial}
	if ok {
		readRoot(root, c, l)
		c.origin = origin{root.source, root.node}
		c.extend(root, l.bases, l)
	}
	l.merge(o, c, &root.errs)
	c.settle(root.decoder, l)
	for _, b := range l.bases {
		c.narrows(root, b, l)
	}
	if err := root.err(); err != nil {
		return nil, err
	}
	root.note(name, src)
	c.Warnings, c.Sums, c.secrets = root.warns, root.sums, func() []string { return slices.Clone(root.environment.secrets) }
	c.References = root.references
	return c, nil
}

// readConfiguration reads the tree of a configuration; ok is false where there is none,
// with the reason among the problems.
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
		d.add(1, 1, "the configuration is empty", "it needs at least mcpServers")
	}
	return Value{decoder: d, node: n, what: "the configuration"}, n != nil
}

// settle sets what depends on several settings, and checks them together.
func (c *Config) settle(d *decoder, l *layers) {
	c.Listen.Stdio = c.Listen.HTTP == ""
	if !l.broken["approval"] {
		c.settleChannels(d, l)
	}
	checkVia(d, c)
	for _, s := range []struct {
		section string
		settle  func(*decoder, *layers)
	}{{"listen", c.settleListen}, {"session", c.settleSession}, {"state", c.settleState}, {"audit", c.settleAudit}, {"approval", c.settleWebhook}, {"approval durations", c.settleApproval}} {
		if l.broken[s.section] {
			continue
		}
		errs, warns := len(d.errs), len(d.warns)
		s.settle(d, l)
		if section, _, _ := strings.Cut(s.section, " "); l.unknown(section) {
			d.errs, d.warns = d.errs[:errs], d.warns[:warns]
		}
	}
}

// checkVia finds transitions that ask through a channel that is not open: nobody
// could ever answer.
func checkVia(d *decoder, c *Config) {
	for _, net := range c.Nets {
		for _, t := range net.Transitions {
			if t.Via != "" && t.Type == "manual" && !slices.Contains(c.Approval.Channels, t.Via) {
				d.foreign(t.Position, fmt.Sprintf("the transition %q asks by %q, and that channel is not open", t.Name, t.Via), "add it to approval.channels")
			}
		}
	}
}

// loopback reports whether an address can be reached only from this machine. A
// name other than localhost may resolve to anything.
func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
