//go:build unix

package process

import (
	"bytes"
	"errors"
	"io"
	"os"
	"testing"
	"time"
)

// TestTail checks that bytes that are in a pipe at the deadline are still read, without waiting for
// more. If there are no other writers, the pipe ends as usual.
func TestTail(t *testing.T) {
	for _, held := range []bool{true, false} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		said := bytes.Repeat([]byte("last words\n"), 3000)
		if _, err := w.Write(said); err != nil {
			t.Fatal(err)
		}
		if !held {
			_ = w.Close()
		}
		if err := r.SetReadDeadline(time.Now()); err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(NewTail(r))
		if !bytes.Equal(got, said) {
			t.Errorf("held %t: %d of %d bytes", held, len(got), len(said))
		}
		if held != errors.Is(err, os.ErrDeadlineExceeded) || !held && err != nil {
			t.Errorf("held %t: %v", held, err)
		}
		_, _ = r.Close(), w.Close()
	}
}

// TestTailOfChatter checks that a writer that continues after the deadline is not read forever.
func TestTailOfChatter(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for chunk := make([]byte, 1<<10); ; {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	}()
	if err := r.SetReadDeadline(time.Now()); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(NewTail(r)); len(got) > 2*maxTail || err == nil {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	_ = r.Close()
	<-ended
	_ = w.Close()
}
