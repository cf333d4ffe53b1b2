package trail_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
)

// written returns a log of n records, in several files if rotated, and the contents of the files by
// name.
func written(t testing.TB, n int, r audit.Rotation) (path string, files map[string][]byte) {
	t.Helper()
	dir := t.TempDir()
	path = filepath.Join(dir, "audit.jsonl")
	log, err := audit.Open(path, r)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if err := log.Append(fmt.Appendf(nil, `{"time":"2026-01-02T03:04:05Z","event":"outcome","session":"s","call":%d,"tool":"up.t","outcome":"success","ms":%d}`, i+1, i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	files = map[string][]byte{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		if files[name], err = os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}
	return path, files
}

func put(t testing.TB, name string, content []byte) {
	t.Helper()
	if err := os.WriteFile(name, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

func verify(t testing.TB, path string) trail.Report {
	t.Helper()
	r, err := trail.Verify(t.Context(), trail.File(path))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestSound checks that an unchanged log verifies, including rotated files.
func TestSound(t *testing.T) {
	path, files := written(t, 40, audit.Rotation{Size: 3000})
	if r := verify(t, path); !r.OK() || len(r.Warnings) > 0 || len(r.Files) < 3 || len(files) != len(r.Files)+1 || r.Records != uint64(40+2*(len(r.Files)-1)) {
		t.Errorf("%+v", r)
	}
	path, _ = written(t, 0, audit.Rotation{})
	if r := verify(t, path); !r.OK() || r.Headless {
		t.Errorf("%+v", r)
	}
	if _, err := trail.Verify(t.Context(), trail.File(path+"x")); err == nil {
		t.Error("a file that is not there verifies")
	}
}

// TestEveryChange checks that every byte that is changed, removed or inserted, and every line that
// is removed, duplicated or moved, is found, in each file and in the head. A short run tests every
// fifth byte.
func TestEveryChange(t *testing.T) {
	path, files := written(t, 14, audit.Rotation{Size: 1500})
	random := rand.New(rand.NewPCG(1, 2))
	tried, step := 0, 5
	if os.Getenv("PETRIGATE_SOAK") != "" {
		step = 1
	}
	for name, content := range files {
		try := func(what string, at int, changed []byte) {
			t.Helper()
			if bytes.Equal(changed, content) {
				return
			}
			tried++
			put(t, name, changed)
			if r := verify(t, path); r.OK() {
				t.Errorf("%s, %s %d: it verifies", filepath.Base(name), what, at)
			}
		}
		for i := len(name) % step; i < len(content); i += step {
			other := slices.Clone(content)
			other[i] ^= byte(1 + random.IntN(255))
			try("byte changed", i, other)
			try("byte removed", i, slices.Delete(slices.Clone(content), i, i+1))
			try("byte put in", i, slices.Insert(slices.Clone(content), i, byte(random.IntN(256))))
			if i > 0 {
				try("cut", i, content[:i])
			}
		}
		for change, lines := range changes(bytes.SplitAfter(content, []byte("\n"))) {
			try(change, 0, bytes.Join(lines, nil))
		}
		put(t, name, content)
	}
	if r := verify(t, path); !r.OK() || tried < 10_000/step {
		t.Errorf("after %d changes: %+v", tried, r)
	}
}

// changes yields every removal, duplication and exchange of lines.
func changes(lines [][]byte) func(yield func(string, [][]byte) bool) {
	lines = slices.DeleteFunc(lines, func(l []byte) bool { return len(l) == 0 })
	return func(yield func(string, [][]byte) bool) {
		for i := range lines {
			if len(lines) > 1 && !yield(fmt.Sprint("line removed ", i), slices.Delete(slices.Clone(lines), i, i+1)) ||
				!yield(fmt.Sprint("line doubled ", i), slices.Insert(slices.Clone(lines), i, lines[i])) {
				return
			}
			for k := range i {
				other := slices.Clone(lines)
				other[i], other[k] = other[k], other[i]
				if !yield(fmt.Sprint("lines exchanged ", k, " ", i), other) {
					return
				}
			}
		}
	}
}

// TestFiles checks that a file that is missing in the middle or emptied is found. The oldest file
// may be removed, which the report mentions.
func TestFiles(t *testing.T) {
	path, files := written(t, 40, audit.Rotation{Size: 2000})
	aside, err := audit.RotatedFiles(path)
	if err != nil || len(aside) < 3 {
		t.Fatal(aside, err)
	}
	for i, name := range append(aside, path) {
		put(t, name, nil)
		if r := verify(t, path); r.OK() && i > 0 {
			t.Errorf("%s is empty: %+v", name, r)
		}
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
		if name != path {
			if r := verify(t, path); r.OK() != (i == 0) {
				t.Errorf("%s is missing: %+v", name, r)
			} else if i == 0 && !strings.Contains(strings.Join(r.Warnings, ""), "were removed") {
				t.Errorf("%+v", r)
			}
		}
		put(t, name, files[name])
	}
	if err := os.Remove(path + audit.HeadSuffix); err != nil {
		t.Fatal(err)
	}
	if r := verify(t, path); !r.OK() || len(r.Warnings) != 1 || !r.Headless {
		t.Errorf("without a head: %+v", r)
	}
	put(t, path+audit.HeadSuffix, nil)
	if r := verify(t, path); !r.OK() || len(r.Warnings) != 1 || !r.Headless {
		t.Errorf("with an empty head: %+v", r)
	}
	if os.Geteuid() != 0 || os.Chown(path+audit.HeadSuffix, 65534, -1) != nil {
		return // only root can change the owner
	}
	if r := verify(t, path); !r.OK() || !r.Headless || !strings.Contains(strings.Join(r.Warnings, ""), "does not belong to the owner of the log") {
		t.Errorf("with a head of another user: %+v", r)
	}
}

// TestWhere checks that the report has the position and description of the first fault.
func TestWhere(t *testing.T) {
	path, files := written(t, 9, audit.Rotation{})
	lines := bytes.SplitAfter(files[path], []byte("\n"))
	lines = lines[:9]
	for _, c := range []struct {
		change func([][]byte) [][]byte
		want   string
	}{
		{func(l [][]byte) [][]byte {
			l[4] = bytes.Replace(l[4], []byte("success"), []byte("failure"), 1)
			return l
		}, ":5: the hash does not match record 5"},
		{func(l [][]byte) [][]byte { return slices.Delete(l, 4, 6) }, ":5: record 7 follows record 4: records between"},
		{func(l [][]byte) [][]byte { return slices.Insert(l, 4, l[2]) }, ":5: record 3 follows record 4: a line was inserted"},
		{func(l [][]byte) [][]byte { return slices.Insert(l, 4, []byte("\n")) }, ":5: the line is empty"},
		{func(l [][]byte) [][]byte { l[4] = []byte("hello\n"); return l }, ":5: the line is not an audit record"},
		{func(l [][]byte) [][]byte { l[4] = []byte(`{"seq":5,"a":1}` + "\n"); return l }, ":5: record 5 has no hash"},
		{func(l [][]byte) [][]byte { return l[:7] }, ": 2 records are missing at the end according to the head: records 8 to 9"},
		{func(l [][]byte) [][]byte { l[8] = l[8][:20]; return l }, ":9: the line is incomplete"},
		{func(l [][]byte) [][]byte { return l[3:] }, ":1: the log begins with record 4: earlier records are missing"},
	} {
		put(t, path, bytes.Join(c.change(slices.Clone(lines)), nil))
		r := verify(t, path)
		if len(r.Faults) != 1 || !strings.HasPrefix(r.Faults[0].String(), path+c.want) {
			t.Errorf("%+v, want %s", r.Faults, c.want)
		}
	}
}

// TestEarlierVersion checks that lines without hashes are accepted only before the first line with
// a hash.
func TestEarlierVersion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	put(t, path, []byte("{\"seq\":1,\"a\":1}\n{\"seq\":2,\"a\":2}\n"))
	log, err := audit.Open(path, audit.Rotation{})
	if err != nil {
		t.Fatal(err)
	}
	if err := log.Append([]byte(`{"a":3}`)); err != nil {
		t.Fatal(err)
	}
	log.Close()
	if r := verify(t, path); !r.OK() || r.Records != 3 {
		t.Errorf("%+v", r)
	}
}

// BenchmarkVerify verifies a log of 20,000 records.
func BenchmarkVerify(b *testing.B) {
	path, files := written(b, 20_000, audit.Rotation{})
	b.SetBytes(int64(len(files[path])))
	for b.Loop() {
		if r, err := trail.Verify(b.Context(), trail.File(path)); err != nil || !r.OK() {
			b.Fatal(r, err)
		}
	}
}
