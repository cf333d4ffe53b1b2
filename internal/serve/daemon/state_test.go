package daemon

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/policy"
)

// TestStatePath checks that proxies share a database only if they use the same configuration file.
func TestStatePath(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, c := range []struct {
		name, state, home, file, path, want string
	}{
		{"as it says", "", "", "", "/db/x.db", "^/db/x.db$"},
		{"of a file", "/s", "", "/c/gate.yaml", "", "^/s/petrigate/gate-[0-9a-f]{8}.db$"},
		{"relative", "/s", "", "gate.yaml", "", "^/s/petrigate/gate-[0-9a-f]{8}.db$"},
		{"no file", "/s", "", "", "", "^without a configuration file, the driver sqlite requires state.path$"},
		{"no place", "", "", "gate.yaml", "", "^looking for a place for state: .*; set XDG_STATE_HOME, or state.path$"},
	} {
		t.Setenv("XDG_STATE_HOME", c.state)
		t.Setenv("HOME", c.home)
		got, err := StatePath(&config.Config{File: c.file, State: config.State{Path: c.path}})
		if err != nil {
			got = err.Error()
		}
		if !regexp.MustCompile(c.want).MatchString(got) {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	t.Setenv("XDG_STATE_HOME", "/s")
	one, _ := StatePath(&config.Config{File: "gate.yaml"})
	same, _ := StatePath(&config.Config{File: filepath.Join(dir, "gate.yaml")})
	other, _ := StatePath(&config.Config{File: "/other/gate.yaml"})
	if one != same || one == other {
		t.Error(one, same, other)
	}
}

// TestUnusableStateFailsStart checks that the daemon does not start if the database can never be
// used, but does start if the database might become available.
func TestUnusableStateFailsStart(t *testing.T) {
	dir := t.TempDir()
	foreign := filepath.Join(dir, "notes.txt")
	if err := os.WriteFile(foreign, []byte("these are notes, and no database of anybody, at some length: "+string(make([]byte, 4096))), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		state   config.State
		invalid bool
		says    string
	}{
		"no database": {config.State{Driver: "sqlite", Path: foreign}, true, ""},
		"a directory": {config.State{Driver: "sqlite", Path: dir}, true, ""},
		"a bad dsn":   {config.State{Driver: "postgres", DSN: "postgres://db:port/x"}, true, ""},
		"unknown":     {config.State{Driver: "new"}, true, `the daemon cannot open the state driver "new"`},
		"away":        {config.State{Driver: "postgres", DSN: "postgres://127.0.0.1:1/x?connect_timeout=1"}, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := New(Options{Config: &config.Config{State: c.state, Audit: config.Audit{Arguments: "hash"}}, Policy: &policy.Result{}})
			_, invalid := errors.AsType[*InvalidError](err)
			if invalid != c.invalid || !c.invalid && err != nil || c.says != "" && err.Error() != c.says {
				t.Fatal(err)
			}
			if err != nil {
				return
			}
			if s := d.Status().State; s.Error == "" || !s.Since.IsZero() || s.Driver != c.state.Driver {
				t.Errorf("%+v", s)
			}
			_ = d.Close()
		})
	}
}
