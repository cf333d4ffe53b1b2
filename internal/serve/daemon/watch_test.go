package daemon

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/config"
)

// A heard is a log handler that sends messages to a channel.
type heard struct {
	slog.Handler
	messages chan string
}

func (h heard) Handle(_ context.Context, r slog.Record) error {
	h.messages <- r.Message
	return nil
}

func (h heard) WithAttrs([]slog.Attr) slog.Handler       { return h }
func (h heard) Enabled(context.Context, slog.Level) bool { return true }

// limited returns a function that loads a configuration, and one that rewrites the configuration
// with a different limit.
func limited(t *testing.T) (load func() (*config.Config, error), write func(most string)) {
	file := filepath.Join(t.TempDir(), "petrigate.yaml")
	write = func(most string) {
		if err := os.WriteFile(file, []byte(strings.ReplaceAll("version: 1\nstate: { driver: memory }\nmcpServers: { s: { url: http://127.0.0.1:1/mcp } }\nrules: limit x to N per session\n", "N", most)), 0o600); err != nil {
			t.Error(err)
		}
	}
	write("1")
	return func() (*config.Config, error) { return config.Load(config.Options{Path: file}) }, write
}

// following runs a daemon that watches its configuration files. It calls the function before once
// the files have been read but are not being watched yet, and the function after once they are
// being watched. It expects the given number of further policies; the last must contain a net named
// last.
func following(t *testing.T, load, again func() (*config.Config, error), before, after func(), policies int, last string) {
	t.Helper()
	c, err := load()
	if err != nil {
		t.Fatal(err)
	}
	result, known, err := Policy(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	log := heard{slog.DiscardHandler, make(chan string, 100)}
	d, err := New(Options{Config: c, Policy: result, Known: known, Log: log, Watch: true, Load: again})
	if err != nil {
		t.Fatal(err)
	}
	before()
	ctx, cancel := context.WithCancel(t.Context())
	end := d.triggers.follow(ctx)
	after()
	for applied := 0; applied < policies; {
		if <-log.messages == "a new policy has taken effect" {
			applied++
		}
	}
	if nets := d.reloads.result.Policy.Nets(); nets[0].Name != last {
		t.Errorf("in force is %s, want %s", nets[0].Name, last)
	}
	cancel()
	end()
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

// TestChangeBeforeWatchIsNoticed checks that a file is read again if it changes after it was read
// and before it is watched.
func TestChangeBeforeWatchIsNoticed(t *testing.T) {
	load, write := limited(t)
	following(t, load, load, func() { write("2") }, func() {}, 1, "limit-x-2")
}

// TestChangeDuringReloadIsNoticed checks that a file is read again if it changes while it is being
// read.
func TestChangeDuringReloadIsNoticed(t *testing.T) {
	load, write := limited(t)
	loads := 0
	again := func() (*config.Config, error) {
		c, err := load()
		if loads++; loads == 2 { // the first load only determines which files to watch
			write("3")
		}
		return c, err
	}
	following(t, load, again, func() {}, func() { write("2") }, 2, "limit-x-3")
}
