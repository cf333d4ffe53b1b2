package trail_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
)

// killed returns a log of n records whose writer was killed while the last of them were pending:
// the file has the first inFile records, the pending file those from number first on.
func killed(t *testing.T, n, first, inFile int) (path string) {
	t.Helper()
	path, _ = written(t, inFile, audit.Rotation{})
	head, err := os.ReadFile(path + audit.HeadSuffix)
	if err != nil {
		t.Fatal(err)
	}
	all, _ := written(t, n, audit.Rotation{})
	content, err := os.ReadFile(all)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(content, []byte("\n"))
	put(t, path, bytes.Join(lines[:inFile], nil))
	put(t, path+audit.HeadSuffix, head)
	put(t, path+audit.PendingSuffix, room(bytes.Join(lines[first-1:n], nil)))
	return path
}

// room returns the content of a pending file with the given lines.
func room(lines []byte) []byte {
	content := make([]byte, 68<<10)
	binary.NativeEndian.PutUint64(content[8:], uint64(len(lines)))
	copy(content[4<<10:], lines)
	return content
}

// TestPending checks that pending records are read once, after the log.
func TestPending(t *testing.T) {
	for name, path := range map[string]string{"apart": killed(t, 9, 7, 6), "moved in part": killed(t, 9, 4, 6)} {
		var all []uint64
		for r, err := range trail.File(path).Records(t.Context(), nil) {
			if err != nil {
				t.Fatal(err)
			}
			if all = append(all, r.Seq); strings.HasSuffix(r.File, audit.PendingSuffix) != (r.Seq > 6) {
				t.Errorf("%s: record %d is in %s", name, r.Seq, r.File)
			}
		}
		if !slices.Equal(all, []uint64{1, 2, 3, 4, 5, 6, 7, 8, 9}) {
			t.Errorf("%s: %v", name, all)
		}
		if r := verify(t, path); !r.OK() || r.Records != 9 || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "3 records are still in "+path+audit.PendingSuffix) {
			t.Errorf("%s: %+v", name, r)
		}
		log, err := audit.Open(path, audit.Rotation{})
		if err != nil {
			t.Fatal(err)
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
		if r := verify(t, path); !r.OK() || r.Records != 9 || len(r.Warnings) != 0 {
			t.Errorf("%s, opened again: %+v", name, r)
		}
	}
	path := killed(t, 6, 4, 6)
	if r := verify(t, path); !r.OK() || r.Records != 6 || len(r.Warnings) != 0 {
		t.Errorf("all moved: %+v", r)
	}
}

// TestPendingChanged checks that changes in the pending file are found.
func TestPendingChanged(t *testing.T) {
	path := killed(t, 9, 7, 6)
	content, err := os.ReadFile(path + audit.PendingSuffix)
	if err != nil {
		t.Fatal(err)
	}
	for i := 8; i < 4<<10+3*150; i++ {
		if content[i] == 0 && i >= 16 {
			continue // unused space
		}
		other := slices.Clone(content)
		other[i] ^= 1
		put(t, path+audit.PendingSuffix, other)
		if r := verify(t, path); r.OK() {
			t.Errorf("byte %d: it verifies", i)
		}
	}
	put(t, path+audit.PendingSuffix, content[:20])
	if r := verify(t, path); !r.OK() || r.Records != 6 {
		t.Errorf("cut short: %+v", r)
	}
}
