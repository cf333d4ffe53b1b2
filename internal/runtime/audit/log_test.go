package audit

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// tempLog opens a log in a directory of its own.
func tempLog(t testing.TB) (*Log, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	return mustOpen(t, path), path
}

func mustOpen(t testing.TB, path string) *Log {
	t.Helper()
	l, err := Open(path, Rotation{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func mustAppend(t testing.TB, l *Log, record string) {
	t.Helper()
	if err := l.Append([]byte(record)); err != nil {
		t.Fatal(err)
	}
}

var hashes = regexp.MustCompile(`,("hash":"[0-9a-f]{64}")}\n`)

// content returns a file's lines without their hashes.
func content(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return hashes.ReplaceAllString(string(data), "}\n")
}

func TestAppend(t *testing.T) {
	l, path := tempLog(t)
	for _, record := range []string{`{}`, `{ }`, `{"a":1}`, `{ "b": {"seq": 9} }`} {
		mustAppend(t, l, record)
	}
	want := "{\"seq\":1}\n{\"seq\":2}\n{\"seq\":3,\"a\":1}\n{\"seq\":4,\"b\": {\"seq\": 9}}\n"
	if got := content(t, path); got != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

func TestAppendRefuses(t *testing.T) {
	l, path := tempLog(t)
	for _, record := range []string{"", "{", "1", `[]`, "{}\n", "{\n}", "{\r}", `{}x`, `{"a":"` + strings.Repeat("x", maxRecord) + `"}`} {
		if err := l.Append([]byte(record)); err == nil {
			t.Errorf("%.20q was accepted", record)
		}
	}
	if got := content(t, path); got != "" {
		t.Errorf("the file has %.40q", got)
	}
}

func TestReopen(t *testing.T) {
	l, path := tempLog(t)
	mustAppend(t, l, `{"long":"`+strings.Repeat("x", 300<<10)+`"}`)
	mustAppend(t, l, `{"long":"`+strings.Repeat("y", 300<<10)+`"}`)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Errorf("closing twice: %v", err)
	}
	if err := l.Append([]byte(`{}`)); !errors.Is(err, ErrClosed) {
		t.Errorf("appending to a closed log: %v", err)
	}
	mustAppend(t, mustOpen(t, path), `{}`)
	if !strings.HasSuffix(content(t, path), "\n{\"seq\":3}\n") {
		t.Error("the third line does not have the number 3")
	}
}

func TestOpenAfterCrash(t *testing.T) {
	tests := []struct{ name, before, after string }{
		{"half a line", "{\"seq\":7}\n{\"seq\":8,\"to", "{\"seq\":7}\n{\"seq\":8}\n"},
		{"half the first line", "{\"se", "{\"seq\":1}\n"},
		{"an empty file", "", "{\"seq\":1}\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			path := write(t, test.before, 0o600)
			mustAppend(t, mustOpen(t, path), `{}`)
			if got := content(t, path); got != test.after {
				t.Errorf("got %q, want %q", got, test.after)
			}
		})
	}
}

func write(t *testing.T, text string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	return path
}

// headOfAnother makes the log's head belong to another user, who can create it in a sticky
// directory.
func headOfAnother(t *testing.T, path string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file away")
	}
	if err := errors.Join(os.WriteFile(path+HeadSuffix, nil, 0o600), os.Chown(path+HeadSuffix, 65534, -1)); err != nil {
		t.Fatal(err)
	}
}

func TestOpenRefuses(t *testing.T) {
	tests := []struct {
		name string
		path func(t *testing.T) string
		want string
	}{
		{"no directory", func(t *testing.T) string { return filepath.Join(t.TempDir(), "no", "a") }, "no such file"},
		{"a file as the directory", func(t *testing.T) string { return filepath.Join(write(t, "", 0o600), "a") }, "not a directory"},
		{"a directory", func(t *testing.T) string { return t.TempDir() }, "is a directory"},
		{"a link", link, "is a symbolic link"},
		{"a dangling link", func(t *testing.T) string {
			path := filepath.Join(t.TempDir(), "link")
			_ = os.Symlink("nowhere", path)
			return path
		}, "is a symbolic link"},
		{"writable by the group", func(t *testing.T) string { return write(t, "", 0o620) }, "mode 0620"},
		{"writable by all", func(t *testing.T) string { return write(t, "", 0o606) }, "mode 0606"},
		{"an open directory", func(t *testing.T) string {
			dir := t.TempDir()
			if err := os.Chmod(dir, 0o777); err != nil {
				t.Fatal(err)
			}
			return filepath.Join(dir, "a")
		}, "anybody may replace"},
		{"a directory as the head", func(t *testing.T) string {
			path := write(t, "", 0o600)
			if err := os.Mkdir(path+HeadSuffix, 0o700); err != nil {
				t.Fatal(err)
			}
			return path
		}, ".head\" is a directory"},
		{"a head of another user", func(t *testing.T) string {
			path := write(t, "", 0o600)
			headOfAnother(t, path)
			return path
		}, "belongs to another user"},
		{"another file", func(t *testing.T) string { return write(t, "hello\n", 0o600) }, "not an audit record"},
		{"another file without a line end", func(t *testing.T) string { return write(t, "hello", 0o600) }, "does not end with"},
		{"a number that is none", func(t *testing.T) string { return write(t, "{\"seq\":-1}\n", 0o600) }, "not an audit record"},
		{"one endless line", func(t *testing.T) string { return write(t, strings.Repeat("{", 5*maxRecord), 0o600) }, "too long"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			l, err := Open(test.path(t), Rotation{})
			if err == nil {
				l.Close()
				t.Fatal("it was opened")
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %q, want %q in it", err, test.want)
			}
		})
	}
}

func link(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(write(t, "", 0o600), path); err != nil {
		t.Skip(err)
	}
	return path
}

func TestModeOfNewFile(t *testing.T) {
	_, path := tempLog(t)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); got != 0o600 {
		t.Errorf("mode %04o, want 0600", got)
	}
}

// Two logs stand for two processes: each has its own descriptor and count.
func TestConcurrentAppends(t *testing.T) {
	first, path := tempLog(t)
	logs := []*Log{first, mustOpen(t, path)}
	const writers, records = 16, 50
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			for i := range records {
				if err := logs[w%2].Append(fmt.Appendf(nil, `{"w":%d,"i":%d}`, w, i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	next := map[int]int{}
	lines := bufio.NewScanner(f)
	seq := 0
	for lines.Scan() {
		seq++
		var r struct{ Seq, W, I int }
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatalf("line %d: %v", seq, err)
		}
		if r.Seq != seq || r.I != next[r.W] {
			t.Fatalf("line %d is %+v, want record %d of its writer", seq, r, next[r.W])
		}
		next[r.W]++
	}
	if seq != writers*records {
		t.Errorf("%d lines, want %d", seq, writers*records)
	}
}

func TestFullDevice(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip(err)
	}
	l, err := Open("/dev/full", Rotation{})
	if err != nil {
		t.Skip(err)
	}
	defer l.Close()
	for range 3 {
		if err := l.Append([]byte(`{}`)); !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("got %v, want no space", err)
		}
	}
}

func TestRemovedFile(t *testing.T) {
	l, path := tempLog(t)
	mustAppend(t, l, `{}`)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := l.Append([]byte(`{}`)); err == nil {
		t.Error("a record went to a file that has no name")
	}
}

// E021: a file that is renamed keeps its records, and no record is lost.
func TestRenamedFile(t *testing.T) {
	l, path := tempLog(t)
	mustAppend(t, l, `{"n":1}`)
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, l, `{"n":2}`)
	if got, want := content(t, path+".1"), "{\"seq\":1,\"n\":1}\n{\"seq\":2,\"n\":2}\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestChangedFile(t *testing.T) {
	l, path := tempLog(t)
	mustAppend(t, l, `{}`)
	mustAppend(t, l, `{}`)
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, l, `{}`)
	if got := content(t, path); got != "{\"seq\":3}\n" {
		t.Errorf("got %q: the removed lines are not missed", got)
	}
	if err := os.WriteFile(path, []byte("junk\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := l.Append([]byte(`{}`)); err == nil {
		t.Error("a record went behind a line that is none")
	}
}

func BenchmarkAppend(b *testing.B) {
	l, _ := tempLog(b)
	record := []byte(`{"time":"2026-11-21T08:00:00Z","kind":"decision","tool":"files.write","decision":"allow","nets":["require-backup-before-delete"]}`)
	b.ReportAllocs()
	for b.Loop() {
		if err := l.Append(record); err != nil {
			b.Fatal(err)
		}
	}
}
