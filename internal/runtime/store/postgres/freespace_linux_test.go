package postgres_test

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/runtime/store/postgres"
	"github.com/petrigate/petrigate/internal/runtime/store/postgres/postgrestest"
)

// TestFullDisk: a disk has space for small decisions and none for a large one. The small ones
// succeed, and the database is not ready until there is space for the large one.
func TestFullDisk(t *testing.T) {
	s := postgrestest.Start(t)
	dir := smallDisk(t, "32m")
	s.Run("CREATE TABLESPACE small LOCATION '" + dir + "'")
	d := open(t, postgres.Options{DSN: s.DSN() + " default_tablespace=small"})
	commit(t, d, nil, step(true, 0, "1"))
	if err := d.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	filler := filepath.Join(dir, "filler")
	fill(t, filler, 200<<10)
	noise := make([]byte, 400<<10) // random, since PostgreSQL would compress repeated letters
	_, _ = rand.Read(noise)
	large := step(true, 0, "3")
	large.Writes[0].ID = backend.PartID{Scope: backend.Session, Name: "large"}
	large.Writes[0].Data = noise
	full := func(what string, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), "its disk is full") {
			t.Errorf("%s: %v", what, err)
		}
	}
	for version := range int64(2) {
		full("a large decision", d.Commit(t.Context(), []*backend.Op{large}))
		full("ready", d.Ready(t.Context()))
		commit(t, d, nil, step(true, version+1, "2"))
		full("ready after a small decision", d.Ready(t.Context()))
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	if err := d.Ready(t.Context()); err != nil {
		t.Error(err)
	}
	commit(t, d, nil, large)
}

// smallDisk mounts a file system of the given size that the server may write.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("it needs root, to mount a small file system")
	}
	dir, err := os.MkdirTemp("", "petrigate-disk")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(dir) })
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "mode=0777,size="+size); err != nil {
		t.Skipf("no file system can be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	place := filepath.Join(dir, "place")
	if err := os.Mkdir(place, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(place, 65534, 65534); err != nil { // the user "nobody" runs the server
		t.Fatal(err)
	}
	return place
}

// fill fills the disk with a file, except the given number of bytes.
func fill(t *testing.T, file string, left int) {
	t.Helper()
	var disk syscall.Statfs_t
	if err := syscall.Statfs(filepath.Dir(file), &disk); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, make([]byte, int(disk.Bavail)*int(disk.Bsize)-left), 0o600); err != nil {
		t.Fatal(err)
	}
}
