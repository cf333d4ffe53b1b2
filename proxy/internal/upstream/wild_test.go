package upstream

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// TestHalfAnAnswer: D019. A child that ends in the middle of a line has not
// answered, and its call does not wait.
func TestHalfAnAnswer(t *testing.T) {
	s := start(t, child(t, "plain"))
	r := <-s.tool("half-exit", "{}").Done()
	var lost *Lost
	if !errors.As(r.Err, &lost) || !lost.Sent || !lost.Dead || !strings.Contains(r.Err.Error(), "exit status 4") {
		t.Errorf("%s %v", r.Result, r.Err)
	}
	s.await(Up)
	s.answer(s.tool("echo", "{}"))
}

// TestAnswerInPieces: D019. An answer is a whole line, however it is written
// and whatever stands around it.
func TestAnswerInPieces(t *testing.T) {
	s := start(t, child(t, "plain"))
	x := s.tool("in-pieces", "{}")
	r := <-x.Done()
	if r.Err == nil && string(r.Result) != `{"content":[]}` { // the line with a NUL before it is no answer
		t.Errorf("%s", r.Result)
	}
	s.answer(s.tool("echo", "{}"))
	if log := s.log.String(); strings.ContainsAny(log, "\x00\x1b") || !strings.Contains(log, "malformed line") {
		t.Errorf("%q", log)
	}
}

// TestChildInheritsNothing: D013. A child has its three streams, a session of
// its own, and no terminal.
func TestChildInheritsNothing(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("it is read from /proc")
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	leaked, err := syscall.Dup(int(r.Fd())) // as what we were started with, it is not closed by itself
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(leaked)
	one := start(t, child(t, "plain")) // whose pipes the other must not get
	two := start(t, child(t, "plain"))
	for _, s := range []*subject{one, two} {
		got := s.answer(s.tool("process", "{}"))
		if !strings.Contains(got, "leader true, terminal false") || strings.Count(got, "pipe:") != 3 || strings.Count(got, `\" \"`) != 2 {
			t.Error(got)
		}
	}
}

// TestForks: D013, F005. Of a child that starts many processes nothing is
// left, whatever groups and sessions they are in.
func TestForks(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("processes are found in /proc")
	}
	s := start(t, child(t, "plain"))
	pid := s.State().Pid
	s.answer(s.tool("fork", "{}"))
	for len(tree(pid)) < 41 { // the test's timeout bounds it
		runtime.Gosched()
	}
	before := tree(pid)
	s.Close()
	for _, p := range before {
		checkGone(t, p)
	}
}

// TestBombOfOne: D007. A child whose output has no end and no line ends with
// its calls, and another one answers meanwhile.
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
	if r := <-x.Done(); !errors.Is(r.Err, errTooLong) {
		t.Error(r.Err)
	}
}
