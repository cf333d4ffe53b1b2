//go:build unix

package process

import (
	_ "embed"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// watchdogScript is the shell script run by the watchdog process.
//
//go:embed watchdog.sh
var watchdogScript string

// watchdogDelay is the time from the start of the first child to the start of the watchdog. Without
// the delay, the watchdog would slow down startup.
const watchdogDelay = 100 * time.Millisecond

// A Watchdog is a small process that kills the proxy's child processes, together with their process
// trees, when the proxy ends for any reason. The kernel can do that only on some systems, and only
// for the child processes themselves. The watchdog reads from a pipe whose other end only the proxy
// holds, so EOF means that the proxy has ended. The zero value is ready to use. A nil Watchdog does
// nothing. The mutex mu guards the fields below it.
type Watchdog struct {
	Logger *slog.Logger // if nil, nothing is logged

	mu      sync.Mutex
	pids    map[int]bool
	pipe    *os.File    // pipe to the watchdog process; nil if the process is not running
	start   *time.Timer // timer that starts the watchdog process; nil before the first Watch, and again after the process has ended or could not be started
	closed  bool
	watcher sync.WaitGroup // lets Close wait until await has returned
}

// Watch ensures that a child dies when this process ends. The child must be the leader of its group
// and session.
func (w *Watchdog) Watch(pid int) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.pids == nil {
		w.pids = map[int]bool{}
	}
	w.pids[pid] = true
	w.sendCommand('+', pid)
	if w.start == nil && !w.closed {
		w.start = time.AfterFunc(watchdogDelay, w.run)
	}
}

// Forget stops watching a child. It must be called before the child's process ID can be reused.
func (w *Watchdog) Forget(pid int) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.pids, pid)
	w.sendCommand('-', pid)
}

// sendCommand sends a command to the watchdog process, if it is running. It does not block, because
// the watchdog never stops reading its input. It ignores errors. An error means that the watchdog
// has exited, and await detects that.
func (w *Watchdog) sendCommand(op byte, pid int) {
	if w.pipe != nil {
		_, _ = fmt.Fprintf(w.pipe, "%c %d\n", op, pid)
	}
}

// run starts the watchdog process.
func (w *Watchdog) run() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	if err := w.launch(); err != nil {
		w.start = nil // the next call to Watch tries again
		w.log().Warn("if this process is killed, programs started by its servers may keep running", "error", err)
	}
}

func (w *Watchdog) launch() error {
	r, pipe, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("making a pipe: %w", err)
	}
	defer r.Close()
	cmd := exec.Command("/bin/sh", "-c", watchdogScript, "petrigate-watchdog")
	cmd.Env, cmd.Dir, cmd.Stdin = []string{}, "/", r
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // the watchdog must not receive signals sent to this process's group
	w.pipe = pipe
	for pid := range w.pids { // write the IDs first, so that the watchdog knows about the children even if this process is killed right after starting it
		w.sendCommand('+', pid)
	}
	if err := cmd.Start(); err != nil {
		pipe.Close()
		w.pipe = nil
		return StartError("/bin/sh", err)
	}
	w.watcher.Go(func() { w.await(cmd) })
	return nil
}

// await waits for the watchdog process and records that it has ended. The next call to Watch starts
// a new one.
func (w *Watchdog) await(cmd *exec.Cmd) {
	err := cmd.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	w.log().Warn("the watchdog has ended", "error", err)
	w.pipe.Close()
	w.pipe, w.start = nil, nil
}

func (w *Watchdog) log() *slog.Logger {
	if w.Logger == nil {
		return slog.New(slog.DiscardHandler)
	}
	return w.Logger
}

// Close stops the watchdog. It must be called after all children have ended.
func (w *Watchdog) Close() error {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	w.closed = true
	if w.start != nil {
		w.start.Stop()
	}
	pipe := w.pipe
	w.pipe = nil
	w.mu.Unlock()
	if pipe != nil {
		_ = pipe.Close()
	}
	w.watcher.Wait()
	return nil
}
