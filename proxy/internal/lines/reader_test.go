package lines

import (
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// TestReader checks that lines are complete, regardless of how the input is split, and that a long
// line does not affect the following ones.
func TestReader(t *testing.T) {
	const limit = 1_000_000
	long := strings.Repeat("x", limit)
	in := "one\r\n\n" + long + "\n" + long + "yz1\n" + long + long + "\ntwo\r\r\nthe last"
	want := []string{"one", "", long, "too long", "too long", "two", "the last"}
	for name, source := range map[string]io.Reader{
		"at once": strings.NewReader(in), "in halves": iotest.HalfReader(strings.NewReader(in)), "with its end": iotest.DataErrReader(strings.NewReader(in)),
	} {
		r := NewReader(source, limit)
		var got []string
		for {
			line, err := r.Next()
			if err == io.EOF {
				break
			}
			if err == ErrTooLong {
				line = []byte("too long")
			} else if err != nil {
				t.Fatal(err)
			}
			if spare := cap(line) - len(line); spare > 64<<10 && spare > len(line)/8+2 {
				t.Errorf("%s: a line of %d bytes has %d", name, len(line), cap(line))
			}
			got = append(got, string(line))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %d lines, want %d", name, len(got), len(want))
		}
	}
}

// TestMore checks that an incomplete line does not count.
func TestMore(t *testing.T) {
	r := NewReader(iotest.OneByteReader(strings.NewReader("a\nb\n")), 10)
	if r.More() {
		t.Error("nothing was read, and there is more")
	}
	if _, err := r.Next(); err != nil || r.More() {
		t.Errorf("half of the next line is no line: %v", err)
	}
	r = NewReader(strings.NewReader("a\nb\nc"), 10)
	for i, want := range []bool{true, false} {
		if _, err := r.Next(); err != nil || r.More() != want {
			t.Errorf("behind line %d: %t, %v", i+1, !want, err)
		}
	}
}
