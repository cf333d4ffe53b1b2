package config

import (
	"net/url"
	"regexp"
	"strings"
)

// State configures where session state is stored.
type State struct {
	Driver string // "memory", "sqlite" or "postgres"
	Path   string // path of the SQLite database; empty means a default path for this configuration
	DSN    string // PostgreSQL connection string, which may contain a password
	Sync   string // when to flush changes of the state to disk: "always" (before forwarding any call), "full" (before forwarding a call, if the call changes state that outlives the process) or "normal" (later, so a power failure can lose changes)
}

// String returns a description without the DSN.
func (s State) String() string { return "config.State of " + s.Driver }

// GoString returns a description without the DSN.
func (s State) GoString() string { return s.String() }

// defaultDriver returns the driver for a configuration that does not specify one. Without a
// configuration file, this is "memory", because the default path of a database depends on the path
// of that file.
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

// readPath reads a path. A relative path is resolved against the directory of the configuration
// file.
func readPath(v Value) (string, bool) {
	text, ok := checked(checkNotEmpty)(v)
	return v.absolute(text), ok
}

// checkDSN accepts both forms of a PostgreSQL connection string. Its message does not quote the
// string.
var checkDSN = accept(func(text string) bool {
	if u, err := url.Parse(text); err == nil && (u.Scheme == "postgres" || u.Scheme == "postgresql") {
		return true
	}
	return !strings.Contains(text, "://") && strings.Contains(text, "=")
}, "%[1]s is not a PostgreSQL connection string", `use "postgres://gate@db.example/petrigate" or "host=db.example user=gate"; write the password as ${env:PGPASSWORD}`)

// password matches the password in a connection string of key=value pairs.
var password = regexp.MustCompile(`(?i)password\s*=\s*('(?:[^'\\]|\\.)*'|\S+)`)

// secrets returns the connection string and the password that it contains.
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

// The accepted values of settings in the sections "state" and "session". The variables are
// read-only. To add a driver, make these changes:
//
//   - in this package: check its settings in settleState, return its secrets from State.secrets, and
//     add its name to petrigate.schema.json
//   - in internal/serve/daemon: extend newDatabase (state.go), RecordsOf and Elsewhere
//     (auditsource.go) and openPins (pins.go)
//   - in internal/doctor/files.go: extend state and securedFiles
//   - in cmd/petrigate/found.go: extend describeAccess
//   - a new package: write a backend.Backend that passes backendtest.Run
var (
	stateDrivers = []string{"memory", "sqlite", "postgres"}
	syncModes    = []string{"full", "always", "normal"}
	sessionBys   = []string{"connection", "principal", "name", "header", "meta"}
)
