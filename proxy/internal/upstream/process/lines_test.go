package process

import (
	"bytes"
	"errors"
	"io"
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

// What was kept must not change when more is read.
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

// Lines are what the newlines say, however the bytes arrive.
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

// steps gives a few bytes at a time.
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
