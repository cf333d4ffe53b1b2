package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A pty runs petrigate on a terminal of its own.
type pty struct {
	t     *testing.T
	us    *os.File // the user's end of the terminal
	cmd   *exec.Cmd
	ended sync.WaitGroup

	mu      sync.Mutex
	changed *sync.Cond
	out     strings.Builder
	seen    int // number of bytes of out that expect has consumed
	over    bool
	late    bool
}

// startPTY runs petrigate with the given arguments on a terminal of the given width.
func startPTY(t *testing.T, env []string, columns int, args ...string) *pty {
	t.Helper()
	return startPTYIn(t, "", env, columns, args...)
}

// startPTYIn is like startPTY but runs petrigate in the given directory.
func startPTYIn(t *testing.T, dir string, env []string, columns int, args ...string) *pty {
	t.Helper()
	us, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	fd := int(us.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetUint32(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	them, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = them.Close() }()
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 50, Col: uint16(columns)}); err != nil {
		t.Fatal(err)
	}
	p := &pty{t: t, us: us, cmd: exec.Command("petrigate", args...)}
	p.cmd.Dir = dir
	p.changed = sync.NewCond(&p.mu)
	p.cmd.Env = append(append(os.Environ(), "GORACE=atexit_sleep_ms=0", "NO_COLOR=1", "USER=ann", "SUDO_USER="), env...)
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = them, them, them
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.ended.Go(p.read)
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill() // it is still running only if the test has failed
		_ = p.cmd.Wait()
		p.ended.Wait()
		_ = us.Close()
	})
	return p
}

func (p *pty) read() {
	b := make([]byte, 4096)
	for {
		n, err := unix.Read(int(p.us.Fd()), b)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		p.mu.Lock()
		p.out.Write(b[:max(n, 0)])
		p.over = err != nil || n <= 0 // the other end is closed
		p.changed.Broadcast()
		over := p.over
		p.mu.Unlock()
		if over {
			return
		}
	}
}

// expect waits until the terminal shows the given text, after the text that the previous call of
// expect has found.
func (p *pty) expect(text string) {
	p.t.Helper()
	limit := time.AfterFunc(agentLimit, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.late = true
		p.changed.Broadcast()
	})
	defer limit.Stop()
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		if at := strings.Index(p.out.String()[p.seen:], text); at >= 0 {
			p.seen += at + len(text)
			return
		}
		if p.over || p.late {
			p.t.Fatalf("the terminal does not show %q:\n%s", text, p.out.String())
		}
		p.changed.Wait()
	}
}

// keys types text.
func (p *pty) keys(text string) {
	p.t.Helper()
	if _, err := unix.Write(int(p.us.Fd()), []byte(text)); err != nil {
		p.t.Fatal(err)
	}
}

// end waits until the program has ended. It returns the exit code and the complete output.
func (p *pty) end() (code int, out string) {
	p.t.Helper()
	p.ended.Wait()
	_ = p.cmd.Wait()
	return p.cmd.ProcessState.ExitCode(), p.out.String()
}
