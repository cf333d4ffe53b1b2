package config

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// State configures where session state is stored.
type State struct {
	Driver string // "memory", "sqlite" or "postgres"
	Path   string // SQLite database file; empty: a default path for this configuration
	DSN    string // PostgreSQL connection string; may contain a password
	Sync   string // "full": flush an admission to disk before its call is forwarded, if the state that it changes outlives the process; "always": flush every admission; "normal": state survives the process, but perhaps not a power failure
}

// String omits the DSN.
func (s State) String() string { return "config.State of " + s.Driver }

// GoString omits the DSN.
func (s State) GoString() string { return s.String() }

// Session configures how calls are assigned to sessions.
type Session struct {
	By     string // "connection", "principal", "name", "header" or "meta"
	Name   string // with By "name"
	Header string // with By "header": a header of the HTTP request
	Meta   string // with By "meta": a key of _meta of the request
}

// Telemetry configures where traces and metrics are exported.
type Telemetry struct {
	Traces  string // URL of an OTLP/HTTP collector; empty: no traces
	Metrics string // address that serves /metrics; empty: no metrics
}

// Values of the sections "state" and "session". Read-only.
var (
	stateDrivers = []string{"memory", "sqlite", "postgres"}
	syncModes    = []string{"full", "always", "normal"}
	sessionBys   = []string{"connection", "principal", "name", "header", "meta"}
)

// defaultDriver returns the driver for a configuration that does not set one. Without a file, the
// database would have no location, so the state is kept in memory.
func defaultDriver(file string) string {
	if file == "" {
		return "memory"
	}
	return "sqlite"
}

func readState(v Value, c *Config, l *layers) {
	s := &c.State
	v.Fields(Keys{
		"driver": l.fileOnly("state.driver", into(&s.Driver, checked(checkWord(stateDrivers)))),
		"path":   l.fileOnly("state.path", into(&s.Path, readPath)),
		"dsn":    l.fileOnly("state.dsn", into(&s.DSN, checked(checkNotEmpty, checkDSN))),
		"sync":   l.fileOnly("state.sync", into(&s.Sync, checked(checkWord(syncModes)))),
	})
}

// readPath reads the path of a file, relative to the configuration.
func readPath(v Value) (string, bool) {
	text, ok := checked(checkNotEmpty)(v)
	return v.absolute(text), ok
}

// checkDSN accepts both forms of a PostgreSQL connection string. Its message does not quote the
// text.
func checkDSN(what, _, text string) (msg, hint string) {
	u, err := url.Parse(text)
	switch {
	case err == nil && (u.Scheme == "postgres" || u.Scheme == "postgresql"):
		return "", ""
	case !strings.Contains(text, "://") && strings.Contains(text, "="):
		return "", ""
	}
	return what + " is no connection string of PostgreSQL", `"postgres://gate@db.example/petrigate" or "host=db.example user=gate"; the password best as ${env:PGPASSWORD}`
}

// settleState checks the settings of the section against each other, and sets the default of
// pinning.mode.
func (c *Config) settleState(d *decoder, l *layers) {
	s := &c.State
	if c.Pinning.Mode == "" {
		c.Pinning.Mode = "warn"
		if s.Driver == "memory" {
			c.Pinning.Mode = "off"
		}
	}
	for _, only := range []struct{ key, driver string }{{"path", "sqlite"}, {"dsn", "postgres"}} {
		if at := l.set["state."+only.key]; at != nil && s.Driver != only.driver {
			d.faultAt(at, fmt.Sprintf("%q has no meaning with the driver %s", only.key, s.Driver), "driver: "+only.driver)
		}
	}
	if at := l.set["state.sync"]; at != nil && s.Driver == "memory" {
		d.faultAt(at, `"sync" has no meaning with the driver memory`, "driver: sqlite")
	}
	if at := l.set["pinning.file"]; at != nil && s.Driver == "postgres" && c.Pinning.Mode == "enforce" {
		d.warn(at, "the definitions of tools that were accepted are kept in a file of each machine: another replica accepts what it sees first", `no "file" here, and the database has them for all replicas`)
	}
	if s.Driver == "postgres" && l.set["state.dsn"] == nil {
		d.faultAt(l.set["state.driver"], `the driver postgres requires "dsn"`, `dsn: "postgres://gate:${env:PGPASSWORD}@db.example/petrigate"`)
	}
}

// password matches the password in a connection string of the form key=value.
var password = regexp.MustCompile(`(?i)password\s*=\s*('(?:[^'\\]|\\.)*'|\S+)`)

// secrets returns the connection string and the password in it.
func (s State) secrets() []string {
	if s.DSN == "" {
		return nil
	}
	all := []string{s.DSN}
	if u, err := url.Parse(s.DSN); err == nil && u.User != nil {
		if word, ok := u.User.Password(); ok {
			all = append(all, word, url.QueryEscape(word))
		}
	}
	if m := password.FindStringSubmatch(s.DSN); m != nil {
		all = append(all, strings.Trim(m[1], "'"))
	}
	return all
}

func readSession(v Value, c *Config, l *layers) {
	l.section(v, Keys{
		"by":     l.fileOnly("session.by", into(&c.Session.By, oneOf(sessionBys))),
		"header": l.fileOnly("session.header", into(&c.Session.Header, checked(checkNotEmpty, checkHeaderName))),
		"meta":   l.fileOnly("session.meta", into(&c.Session.Meta, checked(checkNotEmpty, checkMetaKey))),
	})
}

// maxSessionName is the maximum length of a session name, in bytes.
const maxSessionName = 128

// checkSessionName accepts a printable name of limited length.
func checkSessionName(what, shown, text string) (msg, hint string) {
	printable := utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
	if text == "" || len(text) > maxSessionName || !printable || strings.TrimSpace(text) != text {
		return fmt.Sprintf("%s: %s is not a name of a session", what, shown), fmt.Sprintf("at most %d printable characters, no space around them", maxSessionName)
	}
	return "", ""
}

var headerName = regexp.MustCompile(`^(?i:x-)[A-Za-z0-9-]{1,60}$`)

// checkHeaderName accepts an X- header that has no conventional meaning.
func checkHeaderName(what, shown, text string) (msg, hint string) {
	if !headerName.MatchString(text) || slices.ContainsFunc([]string{"x-forwarded-", "x-real-ip"}, func(p string) bool { return strings.HasPrefix(strings.ToLower(text), p) }) {
		return fmt.Sprintf("%s: %s is not a header that can name a session", what, shown), `one that begins with X-, for example "X-Agent-Session"`
	}
	return "", ""
}

var metaKey = regexp.MustCompile(`^([A-Za-z0-9.-]+/)?[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$`)

// checkMetaKey accepts a key of _meta that the protocol does not reserve.
func checkMetaKey(what, shown, text string) (msg, hint string) {
	prefix, _, _ := strings.Cut(text, "/")
	reserved := strings.Contains(text, "/") && slices.ContainsFunc(strings.Split(prefix, "."), func(label string) bool { return label == "mcp" || label == "modelcontextprotocol" })
	if !metaKey.MatchString(text) || len(text) > maxSessionName || reserved || text == "progressToken" {
		return fmt.Sprintf("%s: %s is not a key of _meta that can name a session", what, shown), `for example "example.com/session"`
	}
	return "", ""
}

// settleSession checks the settings of the section against each other. A name without "by" implies
// by: name.
func (c *Config) settleSession(d *decoder, l *layers) {
	s := &c.Session
	if s.By == "" {
		s.By = "connection"
		if s.Name != "" {
			s.By = "name"
		}
	}
	for _, x := range []struct{ key, value, example string }{
		{"name", s.Name, `name: "nightly"`}, {"header", s.Header, `header: "X-Agent-Session"`}, {"meta", s.Meta, `meta: "example.com/session"`},
	} {
		at := l.set["session."+x.key]
		switch {
		case x.value != "" && s.By != x.key:
			d.faultAt(at, fmt.Sprintf("a %s of sessions has no meaning with \"by\": %q", x.key, s.By), "by: "+x.key)
		case x.value == "" && s.By == x.key:
			d.faultAt(l.set["session.by"], fmt.Sprintf("\"by\": %q requires %q", s.By, x.key), x.example)
		}
	}
	if s.By == "header" && c.Listen.Stdio {
		d.faultAt(l.set["session.by"], `"by": "header" has no meaning over stdio`, `listen: { http: "127.0.0.1:7777" }`)
	}
}

func checkCollector(what, shown, text string) (msg, hint string) {
	if !isURL(text) {
		return fmt.Sprintf("%s: %s is not the URL of a collector", what, shown), `for example "http://127.0.0.1:4318"`
	}
	return "", ""
}
