package daemon

import (
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/config"
)

// TestNoPlaceForPins: where nothing can be kept, a warning is all that is lost with warn, and
// enforce does not begin.
func TestNoPlaceForPins(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", "")
	t.Setenv("HOME", "")
	for mode, want := range map[string]string{"off": "", "warn": "changes of tools are not noticed: there is no place for what was accepted", "enforce": ""} {
		var log strings.Builder
		d := &Daemon{config: &config.Config{File: "gate.yaml", Pinning: config.Pinning{Mode: mode}}, file: "/gate.yaml", log: slog.New(slog.NewTextHandler(&log, nil))}
		pins, err := d.openPins()
		if pins != nil || (err != nil) != (mode == "enforce") || !strings.Contains(log.String(), want) {
			t.Errorf("%s: %v, %v, %s", mode, pins, err, log.String())
		}
	}
}

// TestPins: a file that is named is used, and one that is not as it was written is an error.
func TestPins(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tools.json")
	for _, mode := range []string{"warn", "enforce"} {
		d := &Daemon{config: &config.Config{Pinning: config.Pinning{Mode: mode, File: file}}, log: slog.New(slog.DiscardHandler)}
		if pins, err := d.openPins(); pins == nil || err != nil {
			t.Errorf("%s: %v", mode, err)
		}
	}
}
