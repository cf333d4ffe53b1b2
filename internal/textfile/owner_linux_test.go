package textfile

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestOwner checks that a file of another user keeps its owner.
func TestOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root has files of others to replace")
	}
	file := filepath.Join(t.TempDir(), "f")
	if err := Create(file, []byte("old")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(file, 1234, 2345); err != nil {
		t.Skip(err)
	}
	if err := Replace(file, []byte("new")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if stat, _ := info.Sys().(*syscall.Stat_t); stat.Uid != 1234 || stat.Gid != 2345 || info.Mode() != 0o644 {
		t.Errorf("it is of %d and %d, %v", stat.Uid, stat.Gid, info.Mode())
	}
}

// TestLinked checks that a second hard link is detected.
func TestLinked(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	for i, want := range []bool{false, true} {
		if i == 0 {
			if err := Create(file, nil); err != nil {
				t.Fatal(err)
			}
		} else if err := os.Link(file, file+"2"); err != nil {
			t.Skip(err)
		}
		info, err := os.Stat(file)
		if err != nil || Linked(info) != want {
			t.Errorf("%d: %v", i, err)
		}
	}
}
