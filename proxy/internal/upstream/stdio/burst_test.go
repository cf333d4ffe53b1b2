package stdio

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/proxy/internal/burst"
	"github.com/petrigate/petrigate/proxy/internal/upstream/process"
)

// A told counts the lines of each burst, and those outside of bursts.
type told struct {
	bursts []int
	under  bool
	alone  int
}

func (b *told) Begin() { b.under, b.bursts = true, append(b.bursts, 0) }
func (b *told) Flush() {}
func (b *told) End()   { b.under = false }

func (b *told) take([]byte, bool) {
	if b.under {
		b.bursts[len(b.bursts)-1]++
	} else {
		b.alone++
	}
}

// TestBursts checks that lines that can be read together form a burst of limited length. A single
// line is not a burst.
func TestBursts(t *testing.T) {
	for _, test := range []struct {
		lines  int
		bursts []int
		alone  int
	}{
		{lines: 0},
		{lines: 1, alone: 1},
		{lines: 2, bursts: []int{2}},
		{lines: burst.MaxMessages, bursts: []int{burst.MaxMessages}},
		{lines: burst.MaxMessages + 1, bursts: []int{burst.MaxMessages}, alone: 1},
		{lines: 2*burst.MaxMessages + 5, bursts: []int{burst.MaxMessages, burst.MaxMessages, 5}},
	} {
		b := &told{}
		said := func() *process.LineReader {
			return process.NewLineReader(strings.NewReader(strings.Repeat("x\n", test.lines)), 100)
		}
		if err := forEachLine(said(), b, b.take); !errors.Is(err, io.EOF) || b.under {
			t.Errorf("%d lines: %v, a burst is under way: %t", test.lines, err, b.under)
		}
		if !slices.Equal(b.bursts, test.bursts) || b.alone != test.alone {
			t.Errorf("%d lines: bursts of %v, and %d", test.lines, b.bursts, b.alone)
		}
		b = &told{}
		if err := forEachLine(said(), nil, b.take); !errors.Is(err, io.EOF) || b.alone != test.lines {
			t.Errorf("%d lines without a burst: %v, %d", test.lines, err, b.alone)
		}
	}
}
