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

// heard is a log of which the messages go to a channel.
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

// limited returns a configuration, and what writes it with another limit.
func limited(t *testing.T) (file string, write func(most string)) {
	file = filepath.Join(t.TempDir(), "petrigate.yaml")
	return file, func(most string) {
		if err := os.WriteFile(file, []byte(strings.ReplaceAll("version: 1\nstate: { driver: memory }\nmcpServers: { s: { url: http://127.0.0.1:1/mcp } }\nrules: limit x to N per session\n", "N", most)), 0o600); err != nil {
			t.Error(err)
		}
	}
}

// TestChangedBefore: a file that has changed between its reading and the beginning of the
// watch is read again.
func TestChangedBefore(t *testing.T) {
	file, write := limited(t)
	write("1")
	load := func() (*config.Config, error) { return config.Load(config.Options{Path: file}) }
	c, err := load()
	if err != nil {
		t.Fatal(err)
	}
	result, known, err := Policy(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	log := heard{slog.DiscardHandler, make(chan string, 100)}
	d, err := New(Options{Config: c, Policy: result, Known: known, Log: log, Watch: true, Load: load})
	if err != nil {
		t.Fatal(err)
	}
	write("2")
	ctx, cancel := context.WithCancel(t.Context())
	end := d.follow(ctx)
	for <-log.messages != "another policy is in force" {
	}
	if nets := d.reloads.result.Policy.Nets(); nets[0].Name != "limit-x-2" {
		t.Errorf("in force is %s", nets[0].Name)
	}
	cancel()
	end()
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

// TestChangedMeanwhile: a file that changes while it is read is read again.
func TestChangedMeanwhile(t *testing.T) {
	file, write := limited(t)
	write("1")
	load := func() (*config.Config, error) { return config.Load(config.Options{Path: file}) }
	c, err := load()
	if err != nil {
		t.Fatal(err)
	}
	result, known, err := Policy(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	log, loads := heard{slog.DiscardHandler, make(chan string, 100)}, 0
	d, err := New(Options{Config: c, Policy: result, Known: known, Log: log, Watch: true, Load: func() (*config.Config, error) {
		c, err := load()
		if loads++; loads == 2 { // the first one only looks which files there are
			write("3")
		}
		return c, err
	}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	end := d.follow(ctx)
	write("2")
	for applied := 0; applied < 2; {
		if <-log.messages == "another policy is in force" {
			applied++
		}
	}
	if nets := d.reloads.result.Policy.Nets(); nets[0].Name != "limit-x-3" {
		t.Errorf("in force is %s", nets[0].Name)
	}
	cancel()
	end()
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}
