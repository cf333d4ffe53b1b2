package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
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
			if got := runtimeDir("/nowhere"); filepath.ToSlash(got) != tt.sockets {
				t.Errorf("sockets are at %q, want %q", got, tt.sockets)
			}
			got, err := StateDir()
			if filepath.ToSlash(got) != tt.state || (err == nil) != (tt.state != "") {
				t.Errorf("state is at %q, %v, want %q", got, err, tt.state)
			}
		})
	}
}

// TestRuntimeDirOfUser checks that a process started without the variables creates its socket where
// the user's other programs look for it, but only if no other user can have created that directory.
func TestRuntimeDirOfUser(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no such directory")
	}
	for _, name := range []string{"PETRIGATE_RUNTIME_DIR", "XDG_RUNTIME_DIR"} {
		t.Setenv(name, "")
	}
	users := t.TempDir()
	of := filepath.Join(users, strconv.Itoa(os.Getuid()))
	instead := filepath.Join(os.TempDir(), fmt.Sprintf("petrigate-%d", os.Getuid()))
	if got := runtimeDir(users); got != instead {
		t.Errorf("there is none: %s", got)
	}
	for mode, want := range map[os.FileMode]string{0o700: filepath.Join(of, "petrigate"), 0o755: instead, 0o770: instead} {
		if err := os.Mkdir(of, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(of, mode); err != nil {
			t.Fatal(err)
		}
		if got := runtimeDir(users); got != want {
			t.Errorf("%v: %s, want %s", mode, got, want)
		}
		if err := os.Remove(of); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(t.TempDir(), of); err != nil {
		t.Fatal(err)
	}
	if got := runtimeDir(users); got != instead {
		t.Errorf("a link: %s", got)
	}
}
