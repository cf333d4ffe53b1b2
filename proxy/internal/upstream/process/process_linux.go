package process

import (
	"bytes"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"unsafe"
)

// Isolate makes the child run in a new session without a terminal, so that all of its processes can
// be found. The kernel kills the child when this process ends.
func Isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// AwaitExit waits until the process has exited. It does not reap the process, because the process
// ID, which is also the group ID, could then be reused.
func AwaitExit(cmd *exec.Cmd) {
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

// A Process is an entry in the process table.
type Process struct{ PID, Parent, Group, Session int }

// Tree returns the child's live processes: those in its group and session, and all their
// descendants.
func Tree(pid int) []int {
	all := processTable()
	member := map[int]bool{pid: true}
	for grew := true; grew; {
		grew = false
		for _, p := range all {
			if !member[p.PID] && (p.Group == pid || p.Session == pid || member[p.Parent]) {
				member[p.PID], grew = true, true
			}
		}
	}
	var alive []int
	for _, p := range all {
		if member[p.PID] {
			alive = append(alive, p.PID)
		}
	}
	return alive
}

// processTable reads the process table, without zombies.
func processTable() []Process {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	var all []Process
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			if p, ok := Read(pid); ok {
				all = append(all, p)
			}
		}
	}
	return all
}

// Read returns the process with the given ID, or false if it does not exist or is a zombie.
func Read(pid int) (Process, bool) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return Process{}, false
	}
	// The name of the command is in parentheses and may contain any character, even a parenthesis.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 4 || fields[0][0] == 'Z' || fields[0][0] == 'X' {
		return Process{}, false
	}
	n := func(i int) int { v, _ := strconv.Atoi(string(fields[i])); return v }
	return Process{PID: pid, Parent: n(1), Group: n(2), Session: n(3)}, true
}

// Widen enlarges a pipe's buffer. Reading a large message then needs fewer system calls.
func Widen(f *os.File) {
	const setPipeSize = 1031 // F_SETPIPE_SZ
	if raw, err := f.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) {
			_, _, _ = syscall.Syscall(syscall.SYS_FCNTL, fd, setPipeSize, 256<<10) // ignore the error: the buffer then keeps its size
		})
	}
}
