package process

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
)

// piped returns a pipe and the end that a child would read.
func piped(t *testing.T) (r *os.File, p *Pipe) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p = NewPipe(w, func(error) {})
	t.Cleanup(func() {
		p.Shut()
		_ = r.Close()
	})
	return r, p
}

// TestCork checks that messages that were held back are written in order after the last Uncork.
func TestCork(t *testing.T) {
	r, p := piped(t)
	p.Cork()
	p.Cork()
	var first, second int64
	say := func(position *int64, text string) {
		if err := p.Write(position, false, len(text), func(b []byte) []byte { return append(b, text...) }); err != nil {
			t.Fatal(err)
		}
	}
	say(&first, "one\r\nline")
	p.Uncork()
	if p.Reached(&first) {
		t.Error("it was not held back")
	}
	say(&second, "two")
	p.Uncork()
	if !p.Reached(&first) || !p.Reached(&second) || first != 0 || second != 10 {
		t.Error(first, second)
	}
	lines := bufio.NewScanner(r)
	for _, want := range []string{"one  line", "two"} {
		if !lines.Scan() || lines.Text() != want {
			t.Errorf("%q, want %q", lines.Text(), want)
		}
	}
}

// TestWriteTogether checks that the messages of concurrent writers arrive complete, each once.
func TestWriteTogether(t *testing.T) {
	r, p := piped(t)
	const writers, each = 8, 50
	var want []string
	var writing sync.WaitGroup
	for i := range writers {
		for k := range each {
			want = append(want, fmt.Sprintf("message %d of %d", k, i))
		}
		writing.Go(func() {
			for k := range each {
				sayTogether(t, p, fmt.Sprintf("message %d of %d", k, i))
			}
		})
	}
	writing.Wait()
	sayTogether(t, p, "last")
	lines := bufio.NewScanner(r)
	var got []string
	for range writers * each {
		lines.Scan()
		got = append(got, lines.Text())
	}
	if lines.Scan(); lines.Text() != "last" {
		t.Errorf("%q is the last", lines.Text())
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%d messages arrived, not as they were sent", len(got))
	}
}

// TestWriteTogetherAlone checks that a single message is written when the call returns.
func TestWriteTogetherAlone(t *testing.T) {
	_, p := piped(t)
	if position := sayTogether(t, p, "one"); !p.Reached(&position) {
		t.Error("no other goroutine writes, but the message is not written")
	}
}

func sayTogether(t *testing.T, p *Pipe, text string) (position int64) {
	t.Helper()
	if err := p.Write(&position, true, len(text), func(b []byte) []byte { return append(b, text...) }); err != nil {
		t.Error(err)
	}
	return position
}
