package audit

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// chain reads a log's files, oldest first, and requires that their lines form one chain that ends
// at the head. It returns the events.
func chain(t *testing.T, path string) (events []string) {
	t.Helper()
	files, err := RotatedFiles(path)
	if err != nil {
		t.Fatal(err)
	}
	var at Place
	for _, name := range append(files, path) {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(data) {
			l, err := ParseLine(bytes.TrimSuffix(line, []byte("\n")))
			if err != nil || l.Seq != at.Seq+1 || l.Hash != Link(at.Hash, l.Seq, l.Event) {
				t.Fatalf("%s: %s: behind %d, %v", name, line, at.Seq, err)
			}
			at = Place{l.Seq, l.Hash}
			events = append(events, string(l.Event))
		}
	}
	head, err := os.ReadFile(path + HeadSuffix)
	if got, ok := ParseHead(head); err != nil || !ok || got != at {
		t.Errorf("the head is %q, and the last line %d", head, at.Seq)
	}
	return events
}

// TestRotation checks that if two processes append to one log during constant rotation, every
// record is in the chain exactly once, and each file names the previous one.
func TestRotation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	r := Rotation{Size: 3000, Failed: func(err error) { t.Error(err) }}
	const logs, writers, records = 3, 6, 60
	var open []*Log
	for range logs {
		l, err := Open(path, r)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		open = append(open, l)
	}
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := range records {
				batch := [][]byte{fmt.Appendf(nil, `{"w":%d,"i":%d}`, w, 2*i), fmt.Appendf(nil, `{"w":%d,"i":%d}`, w, 2*i+1)}
				if err := open[w%logs].AppendAll(batch); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	next, files := map[int]int{}, 1
	for _, e := range chain(t, path) {
		var w, i int
		if n, _ := fmt.Sscanf(e, `{"w":%d,"i":%d}`, &w, &i); n == 2 {
			if next[w] != i {
				t.Fatalf("%s, want %d", e, next[w])
			}
			next[w]++
		} else if strings.Contains(e, `"continued"`) {
			files++
		}
	}
	for w := range writers {
		if next[w] != 2*records {
			t.Errorf("writer %d has %d records", w, next[w])
		}
	}
	if aside, _ := RotatedFiles(path); len(aside)+1 != files || files < 10 {
		t.Errorf("%d files, %d are begun: %q", len(aside)+1, files, aside)
	}
}

// TestKeep checks that only the oldest files are removed.
func TestKeep(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	for _, other := range []string{"audit-1-2.jsonl", "other-000000000001-000000000002.jsonl"} {
		if err := os.WriteFile(filepath.Join(filepath.Dir(path), other), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l, err := Open(path, Rotation{Size: 200, Keep: 2})
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		mustAppend(t, l, `{"a":1}`)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	aside, err := RotatedFiles(path)
	entries, _ := os.ReadDir(filepath.Dir(path))
	if err != nil || len(aside) != 2 || len(entries) != 6 {
		t.Errorf("%q, %v, %v", aside, err, entries)
	}
}

// TestRotationCutShort checks that another process completes a rotation whose process ended between
// two steps.
func TestRotationCutShort(t *testing.T) {
	for name, end := range map[string]func(path, aside string) error{
		"closed":    func(string, string) error { return nil },
		"next":      func(path, _ string) error { return os.WriteFile(path+".next", []byte(`{"seq":9`), 0o600) },
		"linked":    os.Link,
		"put aside": func(path, aside string) error { return os.Rename(path, aside) },
		"taken":     func(_, aside string) error { return os.WriteFile(aside, []byte("mine"), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			l, path := tempLog(t)
			mustAppend(t, l, `{"n":1}`)
			mustAppend(t, mustOpen(t, path), `{"time":"2026-01-02T03:04:05Z","event":"closed"}`)
			aside := filepath.Join(filepath.Dir(path), "audit-000000000001-000000000002.jsonl")
			if err := end(path, aside); err != nil {
				t.Skip(err)
			}
			mustAppend(t, mustOpen(t, path), `{"n":2}`)
			mustAppend(t, l, `{"n":3}`)
			if name == "taken" {
				if err := os.Remove(aside); err != nil {
					t.Fatal(err)
				}
			}
			got := chain(t, path)
			n := func(e string) bool { return strings.HasPrefix(e, `{"n":`) }
			if got = slices.DeleteFunc(got, func(e string) bool { return !n(e) }); !slices.Equal(got, []string{`{"n":1}`, `{"n":2}`, `{"n":3}`}) {
				t.Errorf("%q", got)
			}
		})
	}
}

// TestNotRotated checks that a file that cannot be renamed keeps growing, and that no record is
// lost.
func TestNotRotated(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	var failed error
	l, err := Open(path, Rotation{Size: 10, Failed: func(err error) { failed = err }})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := os.MkdirAll(path+".next/in", 0o700); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		mustAppend(t, l, `{"a":1}`)
	}
	if failed == nil || strings.Count(strings.Join(chain(t, path), "\n"), `{"a":1}`) != 5 {
		t.Errorf("%v, %q", failed, chain(t, path))
	}
}

// TestCut checks that the next process detects lines that were removed or changed at the end of the
// file, and that they stay missing from the chain.
func TestCut(t *testing.T) {
	tests := []struct {
		name, want string
		change     func(lines []string) string
	}{
		{"nothing", "", func(l []string) string { return strings.Join(l, "") }},
		{"one line", "records 3 to 3", func(l []string) string { return strings.Join(l[:2], "") }},
		{"half a line", "records 3 to 3", func(l []string) string { return strings.Join(l[:2], "") + l[2][:20] }},
		{"all lines", "all records up to record 3", func([]string) string { return "" }},
		{"another last line", "record 3 as it was written", func(l []string) string {
			return strings.Join(l[:2], "") + string((&Place{Seq: 2}).append(nil, []byte(`{"n":9}`)))
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			l, path := tempLog(t)
			for n := range 3 {
				mustAppend(t, l, fmt.Sprintf(`{"n":%d}`, n))
			}
			last := l.last
			l.Close()
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(test.change(strings.SplitAfter(string(data), "\n"))), 0o600); err != nil {
				t.Fatal(err)
			}
			again := mustOpen(t, path)
			if again.Cut() != test.want {
				t.Errorf("missed: %q, want %q", again.Cut(), test.want)
			}
			mustAppend(t, again, `{"n":4}`)
			if want := Link(last.Hash, 4, []byte(`{"n":4}`)); again.last != (Place{4, want}) {
				t.Errorf("it goes on at %d", again.last.Seq)
			}
			if third := mustOpen(t, path); third.Cut() != "" {
				t.Errorf("missed again: %q", third.Cut())
			}
		})
	}
}

// TestEarlierVersion checks that a file of lines without hashes is continued, and that the chain
// begins with the first line that has one.
func TestEarlierVersion(t *testing.T) {
	path := write(t, "{\"seq\":1,\"a\":1}\n{\"seq\":2,\"a\":2}\n", 0o600)
	l := mustOpen(t, path)
	mustAppend(t, l, `{"a":3}`)
	if want := Link([32]byte{}, 3, []byte(`{"a":3}`)); l.last != (Place{3, want}) || l.Cut() != "" {
		t.Errorf("%+v, %q", l.last, l.Cut())
	}
}

// TestNoHead checks that the log works without a head if its directory is not writable.
func TestNoHead(t *testing.T) {
	l, path := tempLog(t)
	mustAppend(t, l, `{}`)
	l.Close()
	if err := errors.Join(os.Remove(path+HeadSuffix), os.Chmod(filepath.Dir(path), 0o500)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(filepath.Dir(path), 0o700) })
	if os.Geteuid() == 0 {
		t.Skip("root writes everywhere")
	}
	mustAppend(t, mustOpen(t, path), `{}`)
	if !strings.HasSuffix(content(t, path), "{\"seq\":2}\n") {
		t.Error(content(t, path))
	}
}

// TestHeadCutShort checks that the process survives if another user empties the head, and writes
// the head again.
func TestHeadCutShort(t *testing.T) {
	l, path := tempLog(t)
	mustAppend(t, l, `{"n":1}`)
	for range 2 {
		if err := os.Truncate(path+HeadSuffix, 0); err != nil {
			t.Fatal(err)
		}
		mustAppend(t, l, `{"n":2}`)
		chain(t, path)
	}
	other := mustOpen(t, path)
	mustAppend(t, other, `{"n":3}`)
	mustAppend(t, l, `{"n":4}`)
	if len(chain(t, path)) != 5 {
		t.Error("not all records are on the chain")
	}
}
