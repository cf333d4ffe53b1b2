package doctor

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/takeover"
)

// TestTokenModesMatchServe checks that the doctor judges a token file as serve does. A file owned
// by root may be readable by the group of a process that is not root, like a Kubernetes Secret.
func TestTokenModesMatchServe(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can make a file of root")
	}
	dir, err := os.MkdirTemp("", "token")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	file := filepath.Join(dir, "tokens")
	if err := os.WriteFile(file, []byte("0123456789abcdef"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // the other user must be able to read it
		t.Fatal(err)
	}
	d := &Doctor{StateDir: filepath.Join(dir, "none"), Desk: &takeover.Driver{State: filepath.Join(dir, "none")}, loaded: &config.Config{Listen: config.Listen{TokenFile: file}}}
	for _, c := range []struct {
		uid  int
		mode os.FileMode
		want string
		says string
	}{
		{0, 0o600, OK, "the token " + file + " has mode 0600"},
		{0, 0o440, Failed, "the token " + file + ": other users can read it (mode 0440)"},
		{65534, 0o440, OK, "the token " + file + " has mode 0440"},
		{65534, 0o640, OK, "the token " + file + " has mode 0640"},
		{65534, 0o444, Failed, "the token " + file + ": other users can read it (mode 0444)"},
		{65534, 0o460, Failed, "the token " + file + ": other users can write to it (mode 0460)"},
	} {
		if err := os.Chmod(file, c.mode); err != nil {
			t.Fatal(err)
		}
		found := as(t, c.uid, func() []Finding { return d.permissions(t.Context()) })
		if len(found) != 1 || found[0].Status != c.want || found[0].Says != c.says {
			t.Errorf("uid %d, mode %o: %+v", c.uid, c.mode, found)
		}
	}
}

// as calls do with the effective user ID uid. Meanwhile, the whole process has this ID.
func as(t *testing.T, uid int, do func() []Finding) []Finding {
	t.Helper()
	if err := syscall.Seteuid(uid); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := syscall.Seteuid(0); err != nil {
			panic(err) // all later tests would run as the other user
		}
	}()
	return do()
}
