package journal

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// parted returns the lines of the log, and the number of bytes of padding after them.
func (t *trial) parted() (lines []byte, room int) {
	t.Helper()
	data, err := os.ReadFile(t.log())
	t.must(err)
	lines = trimPadding(data)
	return lines, len(data) - len(lines)
}

// step commits a step with a record of the given size. The step is flushed if lasts is true.
func (t *trial) step(size int, lasts bool) {
	t.Helper()
	op := sample("s", t.version)
	op.Reserve, op.Lasts, op.Events[0].Object = true, lasts, filled(size)
	t.must(commit(t.Context(), t.backend, op))
	t.version++
}

// TestPadding checks that the log gets padding after flushed steps, but not after other steps.
// Neither a closed log nor a renamed segment has padding.
func TestPadding(outer *testing.T) {
	t := try(outer)
	t.step(400, false)
	if _, n := t.parted(); n > 0 {
		t.Errorf("room of %d bytes behind steps that are not flushed", n)
	}
	t.step(400, true)
	before, n := t.parted()
	if n != paddingSize {
		t.Errorf("room of %d bytes, want %d", n, paddingSize)
	}
	t.step(400, true)
	t.step(400, false)
	if after, left := t.parted(); len(before)+n != len(after)+left || !bytes.HasPrefix(after, before) {
		t.Errorf("%d bytes and room of %d are %d and %d after two steps", len(before), n, len(after), left)
	}
	t.step(paddingSize, true) // longer than the padding
	if _, n := t.parted(); n != paddingSize {
		t.Errorf("room of %d bytes behind a large step, want %d", n, paddingSize)
	}
	t.whole()
	t.backend.segment = 1 // the next step fills the segment
	t.step(400, true)
	t.backend.segment = maxSegment
	if lines, n := t.parted(); bytes.Count(lines, []byte{'\n'}) != 1 || n > 0 {
		t.Errorf("the next segment has room of %d bytes, and %d bytes of lines", n, len(lines))
	}
	t.step(400, true)
	t.whole()
	t.close()
	if _, n := t.parted(); n > 0 {
		t.Errorf("%d bytes of room are left behind", n)
	}
	t.again()
	t.whole()
}

// TestBytesBehindPadding checks that bytes left by a power loss after padding are cut off when the
// log is opened.
func TestBytesBehindPadding(outer *testing.T) {
	for _, left := range []string{"a line\n", "half of a line", strings.Repeat("a line\n", 1000)} {
		t := try(outer)
		t.step(400, true)
		t.backend.abandon()
		lines, n := t.parted()
		for _, junk := range []int{1, 100, 20 << 10, n} {
			for _, fill := range []string{" ", "\x00"} {
				torn := append(bytes.Clone(lines), strings.Repeat(fill, junk)...)
				t.must(os.WriteFile(t.log(), append(torn, left...), 0o600))
				t.again()
				if got, n := t.parted(); !bytes.Equal(got, lines) || n > 0 {
					t.Errorf("%q behind %d bytes of room: %d bytes and room of %d are left of %d bytes", left[:6], junk, len(got), n, len(lines))
				}
				t.whole()
				t.close()
			}
		}
	}
}
