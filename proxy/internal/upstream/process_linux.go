package upstream

import (
	"bytes"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
	"unsafe"
)

// isolate gives the child a session of its own, so that its processes can be
// found and it has no terminal, and lets it die with this process.
func isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// awaitExit waits until the process has ended and leaves it unreaped, so that
// its number, which is also that of its group, cannot be taken by another.
func awaitExit(cmd *exec.Cmd) {
	const allProcesses, exited, noWait = 1, 4, 0x01000000 // P_PID, WEXITED, WNOWAIT
	var info [128]byte
	for {
		_, _, e := syscall.Syscall6(syscall.SYS_WAITID, allProcesses, uintptr(cmd.Process.Pid),
			uintptr(unsafe.Pointer(&info)), exited|noWait, 0, 0)
		if e != syscall.EINTR {
			return
		}
	}
}

// killTree kills the child's processes until none is left, and reports
// whether that was achieved by the deadline. The child itself may remain as a
// zombie. A process that left the session after its parent died cannot be
// found, and does not count.
func killTree(cmd *exec.Cmd, deadline time.Time) bool {
	pid := cmd.Process.Pid
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		_ = syscall.Kill(-pid, syscall.SIGKILL)
		alive := tree(pid)
		if len(alive) == 0 {
			return true
		}
		if time.Now().After(deadline) {
			return false
		}
		for _, p := range alive {
			_ = syscall.Kill(p, syscall.SIGKILL)
		}
		time.Sleep(pause) //nolint:forbidigo // a killed process takes a moment to go, and nothing tells when
	}
}

// process is a line of the process table.
type process struct{ pid, parent, group, session int }

// tree lists the living processes that belong to the child pid: those of its
// group and session, and the descendants of all of them.
func tree(pid int) []int {
	all := processes()
	member := map[int]bool{pid: true}
	for grew := true; grew; {
		grew = false
		for _, p := range all {
			if !member[p.pid] && (p.group == pid || p.session == pid || member[p.parent]) {
				member[p.pid], grew = true, true
			}
		}
	}
	var alive []int
	for _, p := range all {
		if member[p.pid] {
			alive = append(alive, p.pid)
		}
	}
	return alive
}

// processes reads the process table, but for zombies.
func processes() []process {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	var all []process
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			if p, ok := readProcess(pid); ok {
				all = append(all, p)
			}
		}
	}
	return all
}

func readProcess(pid int) (process, bool) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return process{}, false
	}
	// The name is in parentheses and may contain anything.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 4 || fields[0][0] == 'Z' || fields[0][0] == 'X' {
		return process{}, false
	}
	n := func(i int) int { v, _ := strconv.Atoi(string(fields[i])); return v }
	return process{pid: pid, parent: n(1), group: n(2), session: n(3)}, true
}

// widen gives a pipe a larger buffer, so that a large message takes fewer turns.
func widen(f *os.File) {
	const setPipeSize = 1031 // F_SETPIPE_SZ
	if raw, err := f.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) {
			_, _, _ = syscall.Syscall(syscall.SYS_FCNTL, fd, setPipeSize, 256<<10) // best effort
		})
	}
}
