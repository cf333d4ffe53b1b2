//go:build unix

package pipe_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/pipe"
	"golang.org/x/sys/unix"
)

func ends(t *testing.T) (r, w *pipe.File) {
	t.Helper()
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = in.Close(), out.Close() })
	return pipe.New(in), pipe.New(out)
}

// TestLarge checks that more data than a pipe can hold arrives completely, followed by EOF.
func TestLarge(t *testing.T) {
	r, w := ends(t)
	sent := bytes.Repeat([]byte("a message and then some\n"), 100_000)
	written := make(chan error, 1)
	go func() {
		n, err := w.Write(sent)
		if err == nil && n != len(sent) {
			err = fmt.Errorf("%d of %d bytes", n, len(sent))
		}
		written <- errors.Join(err, w.Close())
	}()
	got, err := io.ReadAll(r)
	if err != nil || !bytes.Equal(got, sent) {
		t.Errorf("%d of %d bytes, %v", len(got), len(sent), err)
	}
	if err := <-written; err != nil {
		t.Error(err)
	}
}

// TestTry checks that TryWrite and TryRead transfer as much as possible without waiting.
func TestTry(t *testing.T) {
	r, w := ends(t)
	if n, waits, err := r.TryRead(make([]byte, 10)); n != 0 || !waits || err != nil {
		t.Errorf("of an empty pipe: %d, %v, %v", n, waits, err)
	}
	sent := make([]byte, 8<<20)
	n, err := w.TryWrite(sent)
	if n == 0 || n == len(sent) || err != nil {
		t.Fatalf("to an empty pipe: %d, %v", n, err)
	}
	if more, err := w.TryWrite(sent); more != 0 || err != nil {
		t.Errorf("to a full pipe: %d, %v", more, err)
	}
	if err := r.SetReadDeadline(time.Now()); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Read(sent); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("late: %v", err)
	}
	if got, waits, err := r.TryRead(sent); got != n || waits || err != nil {
		t.Errorf("of a full pipe: %d of %d, %v, %v", got, n, waits, err)
	}
	_ = w.Close()
	if n, waits, err := r.TryRead(sent); n != 0 || waits || err != io.EOF {
		t.Errorf("at the end: %d, %v, %v", n, waits, err)
	}
}

// TestEnds checks that a blocked read or write fails when either end is closed.
func TestEnds(t *testing.T) {
	r, w := ends(t)
	said := make(chan error, 1)
	go func() {
		var err error
		for err == nil {
			_, err = r.Read(make([]byte, 64<<10))
		}
		said <- err
	}()
	if _, err := w.Write(make([]byte, 1<<20)); err != nil { // more than a pipe holds, so it must be read
		t.Error(err)
	}
	_ = r.Close()
	if err := <-said; !errors.Is(err, os.ErrClosed) {
		t.Errorf("reading: %v", err)
	}
	if _, err := w.Write([]byte("x")); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("writing to nobody: %v", err)
	}
	if _, err := w.TryWrite([]byte("x")); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("trying to write to nobody: %v", err)
	}
	_ = w.Close()
	if _, err := w.Write([]byte("x")); !errors.Is(err, os.ErrClosed) {
		t.Errorf("writing: %v", err)
	}
	if _, _, err := r.TryRead(make([]byte, 1)); !errors.Is(err, os.ErrClosed) {
		t.Errorf("trying to read: %v", err)
	}
}

// TestBlocking checks that a file in blocking mode is read and written as usual, and that TryRead
// and TryWrite do nothing.
func TestBlocking(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p := pipe.New(f)
	if n, err := p.TryWrite([]byte("text")); n != 0 || err != nil {
		t.Errorf("trying to write: %d, %v", n, err)
	}
	if n, waits, err := p.TryRead(make([]byte, 4)); n != 0 || !waits || err != nil {
		t.Errorf("trying to read: %d, %v, %v", n, waits, err)
	}
	if _, err := p.Write([]byte("text")); err != nil {
		t.Error(err)
	}
	_, _ = f.Seek(0, io.SeekStart)
	if got, err := io.ReadAll(p); string(got) != "text" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if pipe.Reopen(f) != f {
		t.Error("a file was opened again")
	}
}

// TestReopen checks that the pipe end that belongs to this process is non-blocking, while the
// shared one is still blocking.
func TestReopen(t *testing.T) {
	var fds [2]int
	if err := unix.Pipe(fds[:]); err != nil {
		t.Fatal(err)
	}
	in, out := os.NewFile(uintptr(fds[0]), "in"), os.NewFile(uintptr(fds[1]), "out")
	defer in.Close()
	defer out.Close()
	ownIn, ownOut := pipe.Reopen(in), pipe.Reopen(out)
	if ownIn == in || ownOut == out {
		t.Skip("this system opens no end of a pipe again")
	}
	if ownIn.Name() != "in" || ownOut.Name() != "out" {
		t.Errorf("errors would name them %q and %q", ownIn.Name(), ownOut.Name())
	}
	for _, fd := range fds {
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0); err != nil || flags&unix.O_NONBLOCK != 0 {
			t.Errorf("the shared end does not block any more: %o, %v", flags, err)
		}
	}
	r, w := pipe.New(ownIn), pipe.New(ownOut)
	if n, err := w.TryWrite([]byte("text")); n != 4 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	b := make([]byte, 10)
	if n, err := r.Read(b); string(b[:n]) != "text" || err != nil {
		t.Errorf("%q, %v", b[:n], err)
	}
	_, _ = out.Close(), ownOut.Close()
	if n, err := r.Read(b); n != 0 || err != io.EOF {
		t.Errorf("at the end: %d, %v", n, err)
	}
	_ = ownIn.Close()
}

// TestShared checks that a Shared still transfers messages, even ones larger than the pipe, if
// another process makes the file non-blocking.
func TestShared(t *testing.T) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	mine, other := pipe.Shared{File: os.NewFile(uintptr(fds[0]), "mine")}, os.NewFile(uintptr(fds[1]), "other")
	defer mine.Close()
	defer other.Close()
	if err := unix.SetNonblock(fds[0], true); err != nil {
		t.Fatal(err)
	}
	if _, err := mine.File.Read(make([]byte, 1)); !errors.Is(err, syscall.EAGAIN) {
		t.Errorf("a plain file: %v", err) // otherwise the rest of the test proves nothing
	}
	sent := bytes.Repeat([]byte("a message and then some\n"), 100_000)
	go func() { // waits for each end in turn
		_, _ = io.CopyN(other, other, int64(len(sent)))
		_ = unix.Shutdown(fds[1], unix.SHUT_WR)
	}()
	written := make(chan error, 1)
	go func() {
		n, err := mine.Write(sent)
		if err == nil && n != len(sent) {
			err = fmt.Errorf("%d of %d bytes", n, len(sent))
		}
		written <- err
	}()
	got, err := io.ReadAll(mine)
	if err != nil || !bytes.Equal(got, sent) {
		t.Errorf("%d of %d bytes, %v", len(got), len(sent), err)
	}
	if err := <-written; err != nil {
		t.Error(err)
	}
}

// TestDeadline checks that a write to a client that does not read fails at the deadline.
func TestDeadline(t *testing.T) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	out, in := os.NewFile(uintptr(fds[0]), "out"), os.NewFile(uintptr(fds[1]), "in")
	defer out.Close()
	defer in.Close()
	socket := pipe.Shared{File: out}
	said := make(chan error, 1)
	go func() {
		_, err := socket.Write(make([]byte, 8<<20))
		said <- err
	}()
	if err := socket.SetWriteDeadline(time.Now().Add(10 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if err := <-said; !errors.Is(err, syscall.EPIPE) {
		t.Errorf("a socket: %v", err)
	}
	_, w := ends(t)
	for name, w := range map[string]interface {
		io.Writer
		SetWriteDeadline(t time.Time) error
	}{"a pipe": w, "a shared pipe": pipe.Shared{File: w.File}} {
		if err := w.SetWriteDeadline(time.Now().Add(10 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(make([]byte, 8<<20)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func ExampleNew() {
	r, w, _ := os.Pipe()
	out := pipe.New(w)
	n, _ := out.TryWrite([]byte("hello\n"))
	_ = w.Close()
	text, _ := io.ReadAll(pipe.New(r))
	fmt.Print(n, " bytes: ", string(text))
	// Output: 6 bytes: hello
}

func ExampleReopen() {
	in := pipe.New(pipe.Reopen(os.Stdin)) // other users of standard input are not affected
	_, _, _ = in.TryRead(make([]byte, 0, 1))
}
