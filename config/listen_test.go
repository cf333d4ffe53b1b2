package config

import (
	"strings"
	"testing"
)

// TestAddressOfFlag checks that the listener's keys take effect if a flag or a variable sets the
// address.
func TestAddressOfFlag(t *testing.T) {
	const src = "version: 1\nmcpServers: { x: { command: cat } }\nlisten: { tokenFile: tokens, maxSessions: 3 }\n"
	for _, o := range []struct {
		options Options
		warned  bool
	}{
		{Options{Env: from(nil)}, true},
		{Options{Env: from(nil), Flags: map[string]string{"listen.http": "127.0.0.1:7777"}}, false},
		{Options{Env: from(map[string]string{"PETRIGATE_LISTEN_HTTP": "127.0.0.1:7777"})}, false},
	} {
		c, err := Parse("f", []byte(src), o.options)
		if err != nil {
			t.Fatal(err)
		}
		warned := false
		for _, w := range c.Warnings {
			warned = warned || strings.Contains(w.Msg, `has no effect without "http"`)
		}
		if warned != o.warned {
			t.Errorf("%v: %v", o.options.Flags, c.Warnings)
		}
	}
}
