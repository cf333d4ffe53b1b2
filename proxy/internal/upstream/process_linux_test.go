package upstream

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/petrigate/petrigate/proxy/internal/upstream/process"
)

// processTool calls a tool that examines processes in /proc.
func (s *server) processTool(m incoming) {
	switch m.Params.Name {
	case "grandchild":
		s.grandchild(m)
	case "process":
		s.process(m)
	case "fork":
		s.fork(m)
	}
}

// grandchild starts two processes: one in its own group that ignores SIGTERM and SIGHUP, and one in
// the server's group. Both outlive the server unless they are killed.
func (s *server) grandchild(m incoming) {
	a := exec.Command("sh", "-c", `trap "" TERM HUP; sleep 1000 & wait`)
	a.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	b := exec.Command("sleep", "1000")
	if a.Start() != nil || b.Start() != nil {
		os.Exit(9)
	}
	s.result(m, fmt.Sprint(a.Process.Pid, " ", b.Process.Pid))
}

// process reports which resources the process has inherited.
func (s *server) process(m incoming) {
	files, _ := os.ReadDir("/proc/self/fd")
	var open []string
	for _, f := range files {
		target, err := os.Readlink("/proc/self/fd/" + f.Name())
		if err == nil && !strings.HasPrefix(target, "anon_inode:") && !strings.HasPrefix(target, "/proc/") && !strings.HasPrefix(target, "/sys/") { // files of the Go runtime and of this check
			open = append(open, f.Name()+" "+target)
		}
	}
	_, err := os.Open("/dev/tty")
	p, _ := process.Read(os.Getpid())
	s.result(m, fmt.Sprintf("leader %t, terminal %t, files %q", p.Session == p.PID && p.Group == p.PID, err == nil, open))
}

// fork starts many processes that start others and leave their group and session.
func (s *server) fork(m incoming) {
	for range 10 {
		c := exec.Command("sh", "-c", `for i in 1 2 3; do sleep 1000 & done; setsid sleep 1000 & wait`)
		c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if c.Start() != nil {
			os.Exit(9)
		}
	}
	s.result(m, "started")
}

// checkGone checks that the process does not exist, not even as a zombie.
func checkGone(t *testing.T, pid int) {
	t.Helper()
	if p, alive := process.Read(pid); alive {
		t.Errorf("process %+v is alive", p)
	}
	if alive := process.Tree(pid); len(alive) > 0 {
		t.Errorf("processes %v are left", alive)
	}
}

func TestCloseEndsTheWholeTree(t *testing.T) {
	t.Parallel()
	for _, role := range []string{"plain", "stubborn"} {
		t.Run(role, func(t *testing.T) {
			s := start(t, child(t, role))
			pid := s.State().Pid
			got := s.answer(s.tool("grandchild", "{}"))
			silent := s.tool("silent", "{}")
			s.Close()
			checkGone(t, pid)
			var a, b int
			fmt.Sscanf(got[strings.Index(got, `"text":"`)+8:], "%d %d", &a, &b)
			checkGone(t, a)
			checkGone(t, b)
			r := <-silent.Done()
			var lost *Lost
			if !errors.As(r.Err, &lost) || !lost.Sent || !lost.Dead {
				t.Error(r.Err)
			}
		})
	}
}

// TestChildInheritsNothing covers D013: a child has its three streams, a session of its own, and no
// terminal.
func TestChildInheritsNothing(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	leaked, err := syscall.Dup(int(r.Fd())) // like an inherited file, this is not closed on exec
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(leaked)
	one := start(t, child(t, "plain")) // the second child must not inherit its pipes
	two := start(t, child(t, "plain"))
	for _, s := range []*subject{one, two} {
		got := s.answer(s.tool("process", "{}"))
		if !strings.Contains(got, "leader true, terminal false") || strings.Count(got, "pipe:") != 3 || strings.Count(got, `\" \"`) != 2 {
			t.Error(got)
		}
	}
}

// TestForkingChildLeavesNoProcess covers D013 and F005: none of the processes that a child has
// started remains, regardless of their groups and sessions.
func TestForkingChildLeavesNoProcess(t *testing.T) {
	t.Parallel()
	s := start(t, child(t, "plain"))
	pid := s.State().Pid
	s.answer(s.tool("fork", "{}"))
	for len(process.Tree(pid)) < 41 { // limited by the test timeout
		runtime.Gosched()
	}
	before := process.Tree(pid)
	s.Close()
	for _, p := range before {
		checkGone(t, p)
	}
}
