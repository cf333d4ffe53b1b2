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

// watchdogScript is what the watchdog runs.
//
//go:embed watchdog.sh
var watchdogScript string

// watchdogDelay is how long after the first child the watchdog is started, so
// that it takes nothing from the start.
const watchdogDelay = 100 * time.Millisecond

// A Watchdog is one small process that outlives this one, however this one ends,
// and then kills the children with all that belongs to them: the system kills a
// child together with its parent at the best, and not what the child has started.
// It learns of our end by that of a pipe, whose other end nobody else has. The
// zero value works, and nil watches nothing.
type Watchdog struct {
	Logger *slog.Logger // nil: discard

	mu      sync.Mutex
	pids    map[int]bool
	pipe    *os.File    // nil: it does not run
	start   *time.Timer // nil: nobody has to be watched yet
	closed  bool
	watcher sync.WaitGroup // of the process
}

// Watch has a child, which leads its group and session, die with this process.
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
	w.say('+', pid)
	if w.start == nil && !w.closed {
		w.start = time.AfterFunc(watchdogDelay, w.run)
	}
}

// Forget is called before the number of a child can be that of another process.
func (w *Watchdog) Forget(pid int) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.pids, pid)
	w.say('-', pid)
}

// say tells the process, if it runs. It reads all the time; if it is gone, its
// end has been noticed, or is about to be.
func (w *Watchdog) say(op byte, pid int) {
	if w.pipe != nil {
		_, _ = fmt.Fprintf(w.pipe, "%c %d\n", op, pid)
	}
}

// run starts the process.
func (w *Watchdog) run() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	if err := w.launch(); err != nil {
		w.log().Warn("if this process is killed, what its servers have started may go on", "error", err)
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
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // what is sent to our group is not for it
	w.pipe = pipe
	for pid := range w.pids { // before it starts, so that it knows them if we are killed now
		w.say('+', pid)
	}
	if err := cmd.Start(); err != nil {
		pipe.Close()
		w.pipe = nil
		return StartError("/bin/sh", err)
	}
	w.watcher.Go(func() { w.await(cmd) })
	return nil
}

// await notes the end of the process. The next child gets another one.
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

// Close ends the watchdog. There must be no children any more.
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
