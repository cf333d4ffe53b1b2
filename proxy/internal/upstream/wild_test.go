package upstream

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/proxy/internal/upstream/process"
)

// TestHalfAnAnswer covers D019: a child that ends in the middle of a line has not answered, and its
// call does not wait any longer.
func TestHalfAnAnswer(t *testing.T) {
	t.Parallel()
	s := start(t, child(t, "plain"))
	r := <-s.tool("half-exit", "{}").Done()
	var lost *Lost
	if !errors.As(r.Err, &lost) || !lost.Sent || !lost.Dead || !strings.Contains(r.Err.Error(), "exit status 4") {
		t.Errorf("%s %v", r.Result, r.Err)
	}
	s.await(Up)
	s.answer(s.tool("echo", "{}"))
}

// TestAnswerInPieces covers D019: an answer is a whole line, regardless of how it is written and
// what surrounds it.
func TestAnswerInPieces(t *testing.T) {
	s := start(t, child(t, "plain"))
	x := s.tool("in-pieces", "{}")
	r := <-x.Done()
	if r.Err == nil && string(r.Result) != `{"content":[]}` { // the line that begins with a NUL is not an answer
		t.Errorf("%s", r.Result)
	}
	s.answer(s.tool("echo", "{}"))
	if log := s.log.String(); strings.ContainsAny(log, "\x00\x1b") || !strings.Contains(log, "malformed line") {
		t.Errorf("%q", log)
	}
}

// TestBombOfOne covers D007: a child with endless output without newlines ends with its calls,
// while another child still answers.
func TestBombOfOne(t *testing.T) {
	c := child(t, "plain")
	c.MaxMessage = 1 << 20
	bomb, other := start(t, c), start(t, child(t, "plain"))
	x := bomb.tool("endless", "{}")
	for i := range 50 {
		if got := other.answer(other.tool("echo", fmt.Sprintf(`{"i":"(%d)"}`, i))); !strings.Contains(got, fmt.Sprintf("(%d)", i)) {
			t.Fatal(got)
		}
	}
	if r := <-x.Done(); !errors.Is(r.Err, process.ErrTooLong) {
		t.Error(r.Err)
	}
}
