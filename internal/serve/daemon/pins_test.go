package daemon

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/runtime/store"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// TestPinsWithoutStateDirectory checks that, without a state directory, mode warn only logs a
// warning, while mode enforce prevents the start.
func TestPinsWithoutStateDirectory(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", "")
	t.Setenv("HOME", "")
	for mode, want := range map[string]string{"off": "", "warn": "changes of tools are not detected: there is no place to store accepted definitions", "enforce": ""} {
		var log strings.Builder
		d := &Daemon{config: &config.Config{File: "gate.yaml", Pinning: config.Pinning{Mode: mode}}, file: "/gate.yaml", log: slog.New(slog.NewTextHandler(&log, nil))}
		pins, err := d.openPins()
		if pins != nil || (err != nil) != (mode == "enforce") || !strings.Contains(log.String(), want) {
			t.Errorf("%s: %v, %v, %s", mode, pins, err, log.String())
		}
	}
}

// TestPinsFile checks that a configured file is used, and that a damaged file is an error.
func TestPinsFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tools.json")
	for _, mode := range []string{"warn", "enforce"} {
		d := &Daemon{config: &config.Config{Pinning: config.Pinning{Mode: mode, File: file}}, log: slog.New(slog.DiscardHandler)}
		if pins, err := d.openPins(); pins == nil || err != nil {
			t.Errorf("%s: %v", mode, err)
		}
	}
}

// TestSharedPins checks that with PostgreSQL the pins are stored in the database, even on machines
// without a state directory, that a configured file takes precedence, and that an earlier file is
// imported.
func TestSharedPins(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HOME", "")
	away := func(context.Context) (backend.Backend, error) { return nil, errors.New("it is away") }
	for _, c := range []struct {
		driver, home, file, want string
	}{
		{driver: "postgres"},
		{driver: "sqlite", want: "XDG_STATE_HOME"},
		{driver: "postgres", home: dir, want: "is invalid"}, // error about the earlier file
		{driver: "postgres", file: filepath.Join(dir, "none.json")},
	} {
		t.Setenv("XDG_STATE_HOME", c.home)
		d := &Daemon{
			config: &config.Config{File: "/gate.yaml", Pinning: config.Pinning{Mode: "enforce", File: c.file}}, file: "/gate.yaml",
			log: slog.New(slog.DiscardHandler), database: &database{LateBackend: store.NewLateBackend(away, slog.New(slog.DiscardHandler)), driver: c.driver},
		}
		if c.home != "" {
			path, err := PinsPath(d.config)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("{"), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		pins, err := d.openPins()
		if (err == nil) != (c.want == "") || err == nil && pins == nil || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
