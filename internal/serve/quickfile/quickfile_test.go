package quickfile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A quick file has what was written, its size, and errors, as any other.
func TestQuick(t *testing.T) {
	for _, name := range []string{"quick", "told"} {
		path := filepath.Join(t.TempDir(), "audit.jsonl")
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		q := Of(f)
		if name == "told" {
			q = File{}
		}
		for _, line := range []string{"one\n", strings.Repeat("two ", 100_000), ""} {
			if n, err := q.Write(f, []byte(line)); n != len(line) || err != nil {
				t.Errorf("%s: %d of %d bytes, %v", name, n, len(line), err)
			}
		}
		if size, removed, err := q.State(f); size != 400_004 || removed || err != nil {
			t.Errorf("%s: %d, %v, %v", name, size, removed, err)
		}
		if b, err := os.ReadFile(path); !strings.HasPrefix(string(b), "one\ntwo two ") || len(b) != 400_004 || err != nil {
			t.Errorf("%s: %d bytes, %v", name, len(b), err)
		}
		r, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := q.Write(r, []byte("three\n")); n != 0 || !errors.As(err, new(*os.PathError)) {
			t.Errorf("%s: of a file that is open for reading %d bytes were written, %v", name, n, err)
		}
		_ = r.Close()
		if err := os.Remove(path); err != nil {
			t.Skip("no file is removed here while it is open")
		}
		if _, removed, err := q.State(f); !removed || err != nil {
			t.Errorf("%s: removed: %v, %v", name, removed, err)
		}
		_ = f.Close()
	}
}
