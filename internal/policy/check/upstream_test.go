package check

import (
	"testing"

	"github.com/petrigate/petrigate/config"
)

// TestNoUpstream checks that a configuration for agents' tools needs no server.
func TestNoUpstream(t *testing.T) {
	for src, want := range map[string]int{
		"version: 1\nmcpServers: {}\n":                                                    1,
		"version: 1\nmcpServers: { x: { command: cat, disabled: true } }\n":               1,
		"version: 1\nmcpServers: { x: { command: cat } }\n":                               0,
		"version: 1\nmcpServers: {}\nlisten: { http: \"127.0.0.1:7777\", hooks: true }\n": 0,
		"version: 1\nrules: [{ inline: \"require test before Edit\" }]\n":                 0,
		"version: 1\nrules: [{ inline: \"map bash.command runs rm as delete\" }]\n":       0,
		"version: 1\nrules: [{ inline: \"limit push to 3 # not Edit\" }]\n":               1,
	} {
		c, err := config.Parse("f", []byte(src), config.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := NoUpstream(c); len(got) != want {
			t.Errorf("%s: %v", src, got)
		}
	}
}
