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

// State says where the states of sessions are kept.
type State struct {
	Driver string // "memory", "sqlite" or "postgres"
	Path   string // of the database of sqlite; "": a place for this configuration
	DSN    string // of postgres; it may contain a password
	Sync   string // "full": what admits a call is on the disk before the call is forwarded, where what it moves outlives the process; "always": wherever; "normal": it outlives the process, and not always a loss of power
}

// String shows nothing of the DSN.
func (s State) String() string { return "config.State of " + s.Driver }

// GoString shows nothing of the DSN.
func (s State) GoString() string { return s.String() }

// Session says which session a call is in.
type Session struct {
	By     string // "connection", "principal", "name", "header" or "meta"
	Name   string // with "name"
	Header string // with "header": of a request over HTTP
	Meta   string // with "meta": a key of _meta of a request
}

// Telemetry says who is told how calls go.
type Telemetry struct {
	Traces  string // URL of a collector that speaks OTLP over HTTP; "": none
	Metrics string // address of /metrics; "": nowhere
}

// The words of the section "state", and of "session". Read-only.
var (
	stateDrivers = []string{"memory", "sqlite", "postgres"}
	syncModes    = []string{"full", "always", "normal"}
	sessionBys   = []string{"connection", "principal", "name", "header", "meta"}
)

// defaultDriver returns where the states of a configuration are kept that does not say so: a
// proxy without a file has no place of its own.
func defaultDriver(file string) string {
	if file == "" {
		return "memory"
	}
	return "sqlite"
}

func readState(v Value, c *Config, l *layers) {
	s := &c.State
	v.Fields(Keys{
		"driver": l.noted("state.driver", into(&s.Driver, checked(checkWord(stateDrivers)))),
		"path":   l.noted("state.path", into(&s.Path, readPath)),
		"dsn":    l.noted("state.dsn", into(&s.DSN, checked(checkFilled, checkDSN))),
		"sync":   l.noted("state.sync", into(&s.Sync, checked(checkWord(syncModes)))),
	})
}

// readPath reads the path of a file, relative to the configuration.
func readPath(v Value) (string, bool) {
	text, ok := checked(checkFilled)(v)
	return v.absolute(text), ok
}

// checkDSN accepts both forms of a connection string of PostgreSQL. It shows nothing of it.
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

// settleState checks the settings of the state together.
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
			d.at(at, fmt.Sprintf("%q has no meaning with the driver %s", only.key, s.Driver), "driver: "+only.driver)
		}
	}
	if at := l.set["state.sync"]; at != nil && s.Driver == "memory" {
		d.at(at, `"sync" has no meaning with the driver memory`, "driver: sqlite")
	}
	if at := l.set["pinning.file"]; at != nil && s.Driver == "postgres" && c.Pinning.Mode == "enforce" {
		d.warn(at, "the definitions of tools that were accepted are kept in a file of each machine: another replica accepts what it sees first", `no "file" here, and the database has them for all replicas`)
	}
	if s.Driver == "postgres" && l.set["state.dsn"] == nil {
		d.at(l.set["state.driver"], `the driver postgres requires "dsn"`, `dsn: "postgres://gate:${env:PGPASSWORD}@db.example/petrigate"`)
	}
}

// password finds the password in a connection string of the form key=value.
var password = regexp.MustCompile(`(?i)password\s*=\s*('(?:[^'\\]|\\.)*'|\S+)`)

// secrets are the connection string and the password in it.
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
		"by":     l.noted("session.by", into(&c.Session.By, oneOf(sessionBys))),
		"header": l.noted("session.header", into(&c.Session.Header, checked(checkFilled, checkHeaderName))),
		"meta":   l.noted("session.meta", into(&c.Session.Meta, checked(checkFilled, checkMetaKey))),
	})
}

// maxSessionName is the largest number of bytes in the name of a session.
const maxSessionName = 128

// checkSessionName accepts a name that people can read.
func checkSessionName(what, shown, text string) (msg, hint string) {
	printable := utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
	if text == "" || len(text) > maxSessionName || !printable || strings.TrimSpace(text) != text {
		return fmt.Sprintf("%s: %s is not a name of a session", what, shown), fmt.Sprintf("at most %d printable characters, no space around them", maxSessionName)
	}
	return "", ""
}

var headerName = regexp.MustCompile(`^(?i:x-)[A-Za-z0-9-]{1,60}$`)

// checkHeaderName accepts a header that no standard has a use for.
func checkHeaderName(what, shown, text string) (msg, hint string) {
	if !headerName.MatchString(text) || slices.ContainsFunc([]string{"x-forwarded-", "x-real-ip"}, func(p string) bool { return strings.HasPrefix(strings.ToLower(text), p) }) {
		return fmt.Sprintf("%s: %s is not a header that can name a session", what, shown), `one that begins with X-, for example "X-Agent-Session"`
	}
	return "", ""
}

var metaKey = regexp.MustCompile(`^([A-Za-z0-9.-]+/)?[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$`)

// checkMetaKey accepts a key of _meta that the protocol has no use for.
func checkMetaKey(what, shown, text string) (msg, hint string) {
	prefix, _, _ := strings.Cut(text, "/")
	reserved := strings.Contains(text, "/") && slices.ContainsFunc(strings.Split(prefix, "."), func(label string) bool { return label == "mcp" || label == "modelcontextprotocol" })
	if !metaKey.MatchString(text) || len(text) > maxSessionName || reserved || text == "progressToken" {
		return fmt.Sprintf("%s: %s is not a key of _meta that can name a session", what, shown), `for example "example.com/session"`
	}
	return "", ""
}

// settleSession checks the settings of the section together. A name alone says that
// sessions go by it.
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
			d.at(at, fmt.Sprintf("a %s of sessions has no meaning with \"by\": %q", x.key, s.By), "by: "+x.key)
		case x.value == "" && s.By == x.key:
			d.at(l.set["session.by"], fmt.Sprintf("\"by\": %q requires %q", s.By, x.key), x.example)
		}
	}
	if s.By == "header" && c.Listen.Stdio {
		d.at(l.set["session.by"], `"by": "header" has no meaning over stdio`, `listen: { http: "127.0.0.1:7777" }`)
	}
}

func checkCollector(what, shown, text string) (msg, hint string) {
	if !isURL(text) {
		return fmt.Sprintf("%s: %s is not the URL of a collector", what, shown), `for example "http://127.0.0.1:4318"`
	}
	return "", ""
}
