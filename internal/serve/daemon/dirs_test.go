package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestWhereSocketsAndTokensAre(t *testing.T) {
	own := fmt.Sprintf("petrigate-%d", os.Getuid())
	tests := []struct {
		name           string
		env            map[string]string
		sockets, state string
	}{
		{"asked for", map[string]string{"PETRIGATE_RUNTIME_DIR": "/p", "XDG_RUNTIME_DIR": "/x", "XDG_STATE_HOME": "/s", "HOME": "/h"}, "/p", "/s/petrigate"},
		{"of the session", map[string]string{"XDG_RUNTIME_DIR": "/x", "HOME": "/h"}, "/x/petrigate", "/h/.local/state/petrigate"},
		{"relative ones do not count", map[string]string{"XDG_RUNTIME_DIR": "x", "XDG_STATE_HOME": "s", "HOME": "/h", "TMPDIR": "/t"}, "/t/" + own, "/h/.local/state/petrigate"},
		{"no home", map[string]string{"TMPDIR": "/t"}, "/t/" + own, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, name := range []string{"PETRIGATE_RUNTIME_DIR", "XDG_RUNTIME_DIR", "XDG_STATE_HOME", "HOME", "TMPDIR"} {
				t.Setenv(name, tt.env[name])
			}
			if got := RuntimeDir(); filepath.ToSlash(got) != tt.sockets {
				t.Errorf("sockets are at %q, want %q", got, tt.sockets)
			}
			got, err := StateDir()
			if filepath.ToSlash(got) != tt.state || (err == nil) != (tt.state != "") {
				t.Errorf("state is at %q, %v, want %q", got, err, tt.state)
			}
		})
	}
}
