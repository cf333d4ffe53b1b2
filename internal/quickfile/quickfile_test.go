package quickfile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A quick file has the written contents, their size, and the usual errors.
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

// WriteAt overwrites bytes, extends the file, and returns an error for a file that is open for reading.
func TestQuickWriteAt(t *testing.T) {
	for _, name := range []string{"quick", "told"} {
		f, err := os.OpenFile(filepath.Join(t.TempDir(), "log"), os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		q := Of(f)
		if name == "told" {
			q = File{}
		}
		for _, w := range []struct {
			at   int64
			line string
		}{{0, "one two\n"}, {4, "six\nten"}, {3, ""}, {10, strings.Repeat("x", 100_000)}} {
			if n, err := q.WriteAt(f, []byte(w.line), w.at); n != len(w.line) || err != nil {
				t.Errorf("%s: %d of %d bytes, %v", name, n, len(w.line), err)
			}
		}
		if b, err := os.ReadFile(f.Name()); string(b) != "one six\nte"+strings.Repeat("x", 100_000) || err != nil {
			t.Errorf("%s: %d bytes, %v", name, len(b), err)
		}
		_ = f.Close()
		r, err := os.Open(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		if n, err := q.WriteAt(r, []byte("three\n"), 0); n != 0 || !errors.As(err, new(*os.PathError)) {
			t.Errorf("%s: of a file that is open for reading %d bytes were written, %v", name, n, err)
		}
		_ = r.Close()
	}
}

// A Flusher can flush a file repeatedly, returns an error for a closed file or a pipe, and closes
// its eventfd.
func TestFlusher(t *testing.T) {
	before := opened(t)
	for range 3 {
		f, err := os.OpenFile(filepath.Join(t.TempDir(), "log"), os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		var l Flusher
		for n := range int64(20) {
			if _, err := f.WriteAt([]byte("line\n"), 5*n); err != nil {
				t.Fatal(err)
			}
			if err := l.Flush(f); err != nil {
				t.Error(err)
			}
		}
		_ = f.Close()
		for range 2 {
			if err := l.Flush(f); err == nil {
				t.Error("a file that is closed was flushed")
			}
		}
		l.Close()
		l.Close()
	}
	if now := opened(t); now != before {
		t.Errorf("%d files are open, %d were", now, before)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	var l Flusher
	for range 3 {
		if err := l.Flush(w); err == nil {
			t.Error("a pipe was flushed")
		}
	}
	l.Close()
	_, _ = r.Close(), w.Close()
}

// opened returns the number of open files of this process, if it is known.
func opened(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(all)
}

func BenchmarkFlush(b *testing.B) {
	for name, flush := range map[string]func(*Flusher, *os.File) error{
		"usual":   func(_ *Flusher, f *os.File) error { return new(Flusher).Flush(f) },
		"flusher": func(l *Flusher, f *os.File) error { return l.Flush(f) },
	} {
		b.Run(name, func(b *testing.B) {
			f, err := os.OpenFile(filepath.Join(b.TempDir(), "log"), os.O_RDWR|os.O_CREATE, 0o600)
			if err != nil {
				b.Fatal(err)
			}
			defer f.Close()
			var l Flusher
			defer l.Close()
			for b.Loop() {
				if _, err := f.WriteAt([]byte("line\n"), 0); err != nil {
					b.Fatal(err)
				}
				if err := flush(&l, f); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
