package httpguard

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// TestBodies checks that large messages are limited by the bytes sent, for each principal, and that
// releasing them makes room.
func TestBodies(t *testing.T) {
	l := newBodyLimit(4 << 20)
	if l.each != minBodies || l.all != 2*minBodies {
		t.Errorf("%d and %d", l.each, l.all)
	}
	if large := newBodyLimit(minBodies); large.each < 4*minBodies {
		t.Errorf("%d bytes for messages of %d", large.each, minBodies)
	}
	l.each, l.all = 300<<10, 500<<10
	text := func(n int) io.Reader { return strings.NewReader(strings.Repeat("x", n<<10)) }
	body, release, err := l.read(text(200), -1, "ann")
	if err != nil || len(body) != 200<<10 {
		t.Fatalf("%d bytes, %v", len(body), err)
	}
	if _, _, err := l.read(text(200), -1, "ann"); !errors.Is(err, errTooMuch) {
		t.Errorf("more than one may: %v", err)
	}
	if _, _, err := l.read(io.MultiReader(text(100), broken{}), -1, "ann"); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a body that breaks off: %v", err)
	}
	_, other, err := l.read(text(250), -1, "bob")
	if err != nil {
		t.Fatalf("another principal: %v", err)
	}
	if _, _, err := l.read(text(90), -1, "ann"); !errors.Is(err, errTooMuch) {
		t.Errorf("more than all may: %v", err)
	}
	other()
	_, more, err := l.read(text(90), -1, "ann")
	if err != nil {
		t.Errorf("after another has ended: %v", err)
	}
	more()
	release()
	if n := total(l); n != 0 {
		t.Errorf("%d bytes are counted", n)
	}
}

// TestBodiesFit checks that a body occupies hardly more memory than its length, regardless of the
// announced length.
func TestBodiesFit(t *testing.T) {
	const length = 3<<20 + 1
	for _, announced := range []int64{-1, 0, 100, length, 10 * length} {
		l := newBodyLimit(4 << 20)
		body, release, err := l.read(strings.NewReader(strings.Repeat("x", length)), announced, "ann")
		if err != nil || len(body) != length || cap(body) > length+length/8 || total(l) != length {
			t.Errorf("announced as %d: %d bytes in %d, %d counted, %v", announced, len(body), cap(body), total(l), err)
		}
		release()
	}
}

// total returns how much is counted for all principals.
func total(l *limit) (n int) {
	l.Add("", 0, func(_, all int) bool {
		n = all
		return false
	})
	return n
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
