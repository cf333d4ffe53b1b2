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

// stubborn has grandchildren that end by nothing but a kill: both deaf to the
// end of their input and to requests to end.
const stubborn = `
sh -c 'trap "" TERM HUP INT; while :; do sleep 1; done' </dev/null &
echo $! >> "$0"
sh -c 'trap "" TERM HUP INT; while :; do sleep 1; done' </dev/null &
echo $! >> "$0"
echo $$ >> "$0"
exec cat >/dev/null
`

// TestWatchdogEndsGrandchildren: when petrigate is killed, nothing of what its servers have
// started goes on, and the watchdog that sees to it goes too.
func TestWatchdogEndsGrandchildren(t *testing.T) {
	dir := t.TempDir()
	binary, pids := testbinary.Path(t), filepath.Join(dir, "pids")
	cmd := exec.Command(binary, "wrap", "--", "sh", "-c", stubborn, pids)
	short, err := os.MkdirTemp("", "pg-") // as paths of sockets have to be
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
			if n, err := strconv.Atoi(pid); err == nil && t.Failed() { // or else they are gone, and their numbers may be those of others
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

// waitUntil waits; the processes of others tell nobody of a change.
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

// stateOf is the letter of the state of a process; empty: there is none.
func stateOf(pid string) string {
	fields := statOf(pid)
	if len(fields) == 0 {
		return ""
	}
	return fields[0]
}

// statOf is what the system says of a process behind its name.
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

// childNamed is a child whose command line holds the name.
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
