package process

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
)

func readLines(r io.Reader, max int) (lines [][]byte, err error) {
	l := NewLineReader(r, max)
	for {
		line, _, err := l.Next()
		if err != nil {
			return lines, err
		}
		lines = append(lines, bytes.Clone(line))
	}
}

// TestKeptLines checks that a kept line does not change when more is read.
func TestKeptLines(t *testing.T) {
	in := strings.Repeat("a", bigLine) + "\n" + strings.Repeat("b", 3*lineBuffer) + "\nshort\n" + strings.Repeat("c", bigLine) + "\n"
	l := NewLineReader(strings.NewReader(in), 1<<20)
	var kept []string
	var views [][]byte
	for {
		line, own, err := l.Next()
		if err != nil {
			break
		}
		kept = append(kept, string(line))
		if own {
			views = append(views, line)
		}
	}
	if strings.Join(kept, "\n")+"\n" != in || len(views) != 3 {
		t.Fatal(len(kept), len(views))
	}
	for i, c := range "abc" {
		if bytes.IndexFunc(views[i], func(r rune) bool { return r != c }) >= 0 {
			t.Errorf("line %d changed", i)
		}
	}
}

// TestLinesAlike checks that the reader allocates only one buffer for each line if a server keeps
// sending large lines.
func TestLinesAlike(t *testing.T) {
	for _, size := range []int{bigLine, lineBuffer - 1, lineBuffer, 1 << 20} {
		in := strings.Repeat(strings.Repeat("a", size)+"\n", 22)
		l := NewLineReader(&steps{data: []byte(in), step: size + 1}, 2<<20) // one line at a time
		next := func() {
			if line, own, err := l.Next(); len(line) != size || !own || err != nil {
				t.Fatalf("%d bytes, kept: %t, %v", len(line), own, err)
			}
		}
		next()
		if made := testing.AllocsPerRun(20, next); made > 1 {
			t.Errorf("%v buffers for a line of %d bytes", made, size)
		}
	}
}

// TestLineBehindLarger checks that a line does not occupy the memory of a larger line before it.
func TestLineBehindLarger(t *testing.T) {
	const pairs = 20
	l := NewLineReader(strings.NewReader(strings.Repeat(strings.Repeat("a", 4<<20)+"\n"+strings.Repeat("b", 100<<10)+"\n", pairs)), 8<<20)
	inUse := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapInuse
	}
	before := inUse()
	var kept [][]byte
	for range pairs {
		if line, _, err := l.Next(); len(line) != 4<<20 || err != nil {
			t.Fatalf("%d bytes, %v", len(line), err)
		}
		line, own, err := l.Next()
		if len(line) != 100<<10 || !own || err != nil {
			t.Fatalf("%d bytes, kept: %t, %v", len(line), own, err)
		}
		kept = append(kept, line)
	}
	if took := int64(inUse() - before); took > pairs<<20 {
		t.Errorf("%d lines of 100 KiB take %d KiB", len(kept), took>>10)
	}
	runtime.KeepAlive(kept)
}

func TestLongLineIsCut(t *testing.T) {
	_, err := readLines(io.MultiReader(strings.NewReader("ok\n"), endless{}), 1<<20)
	if !errors.Is(err, ErrTooLong) {
		t.Error(err)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// FuzzLines checks that lines depend only on the newlines, and not on how the bytes arrive.
func FuzzLines(f *testing.F) {
	f.Add([]byte("a\nb\r\n\n\nc"), uint8(1))
	f.Add(bytes.Repeat([]byte("0123456789\n"), 20_000), uint8(200))
	f.Fuzz(func(t *testing.T, data []byte, step uint8) {
		var want [][]byte
		for _, line := range bytes.SplitAfter(data, []byte("\n")) {
			if bytes.HasSuffix(line, []byte("\n")) {
				want = append(want, bytes.TrimSuffix(line[:len(line)-1], []byte("\r")))
			}
		}
		got, err := readLines(&steps{data: data, step: int(step) + 1}, len(data)+1)
		if err != io.EOF || len(got) != len(want) {
			t.Fatalf("%d lines, want %d: %v", len(got), len(want), err)
		}
		for i := range got {
			if !bytes.Equal(got[i], want[i]) {
				t.Fatalf("line %d: %q, want %q", i, got[i], want[i])
			}
		}
	})
}

// A steps is a reader that returns a few bytes at a time.
type steps struct {
	data []byte
	step int
}

func (s *steps) Read(p []byte) (int, error) {
	if len(s.data) == 0 {
		return 0, io.EOF
	}
	n := copy(p, s.data[:min(s.step, len(s.data))])
	s.data = s.data[n:]
	return n, nil
}
