package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/testbinary"
)

// stubborn is a script that starts grandchildren which only SIGKILL ends, because they ignore the
// end of their input and all signals that ask them to end.
const stubborn = `
sh -c 'trap "" TERM HUP INT; while :; do sleep 1; done' </dev/null &
echo $! >> "$0"
sh -c 'trap "" TERM HUP INT; while :; do sleep 1; done' </dev/null &
echo $! >> "$0"
echo $$ >> "$0"
exec cat >/dev/null
`

// TestWatchdogEndsGrandchildren checks that when petrigate is killed, the watchdog ends everything
// that petrigate's servers have started, and then itself.
func TestWatchdogEndsGrandchildren(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	binary, pids := testbinary.Path(t), filepath.Join(dir, "pids")
	cmd := exec.Command(binary, "wrap", "--", "sh", "-c", stubborn, pids)
	short, err := os.MkdirTemp("", "pg-") // socket paths must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(short) })
	cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+short, "XDG_CONFIG_HOME="+dir, "XDG_STATE_HOME="+dir)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var all []string
	waitUntil(t, "all processes run", func() bool {
		b, _ := os.ReadFile(pids)
		all = strings.Fields(string(b))
		return len(all) == 3
	})
	t.Cleanup(func() {
		for _, pid := range all {
			if n, err := strconv.Atoi(pid); err == nil && t.Failed() { // if the test has passed, they have ended, and their IDs may be in use again
				_ = syscall.Kill(n, syscall.SIGKILL)
			}
		}
	})
	watchdog := ""
	waitUntil(t, "the watchdog runs", func() bool {
		watchdog = childNamed(cmd.Process.Pid, "petrigate-watchdog")
		return watchdog != ""
	})
	t.Logf("the watchdog takes %s", residentOf(watchdog))
	waitUntil(t, "the watchdog knows", func() bool { return strings.Contains(stateOf(watchdog), "S") })
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	for _, pid := range append(all, watchdog) {
		waitUntil(t, "process "+pid+" is gone", func() bool { return strings.Trim(stateOf(pid), "ZX") == "" })
	}
}

// waitUntil polls until ok returns true, because other processes do not signal changes.
func waitUntil(t *testing.T, what string, ok func() bool) {
	t.Helper()
	limit := time.NewTimer(agentLimit)
	defer limit.Stop()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-limit.C:
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

// stateOf returns the state letter of a process. It returns "" if the process does not exist.
func stateOf(pid string) string {
	fields := statOf(pid)
	if len(fields) == 0 {
		return ""
	}
	return fields[0]
}

// statOf returns those fields of /proc/PID/stat that follow the process name.
func statOf(pid string) []string {
	b, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return nil
	}
	return strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
}

func residentOf(pid string) string {
	b, _ := os.ReadFile("/proc/" + pid + "/status")
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			return strings.TrimSpace(rest)
		}
	}
	return "?"
}

// childNamed returns the ID of the child process whose command line contains the given name.
func childNamed(parent int, name string) string {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		fields := statOf(e.Name())
		if len(fields) < 2 || fields[1] != strconv.Itoa(parent) {
			continue
		}
		if line, _ := os.ReadFile("/proc/" + e.Name() + "/cmdline"); strings.Contains(string(line), name) {
			return e.Name()
		}
	}
	return ""
}
