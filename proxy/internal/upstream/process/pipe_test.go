package process

import (
	"bufio"
	"os"
	"testing"
)

// What is held back is written when the last one lets go, and in order.
func TestCork(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	p := NewPipe(w, func(error) {})
	defer p.Shut()
	p.Cork()
	p.Cork()
	var first, second int64
	say := func(position *int64, text string) {
		if err := p.Write(position, len(text), func(b []byte) []byte { return append(b, text...) }); err != nil {
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
