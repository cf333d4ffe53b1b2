package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/petrigate/petrigate/internal/testserver"
)

// A transcript records the traffic on two streams, for the report about a script that hangs.
type transcript struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (t *transcript) note(mark string, b []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, _ = fmt.Fprintf(&t.text, "%s %s %s\n", time.Now().UTC().Format("15:04:05.000"), mark, bytes.TrimSuffix(b, []byte("\n")))
}

func (t *transcript) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.String()
}

// A transcriptWriter writes one stream to a transcript and marks it with its direction.
type transcriptWriter struct {
	*transcript
	mark string
}

func (n transcriptWriter) Write(b []byte) (int, error) {
	n.note(n.mark, b)
	return len(b), nil
}

// stuckReport returns the name of the file for a server's SIGQUIT report.
func stuckReport(pid int) string { return filepath.Join(os.TempDir(), fmt.Sprintf("pg-stuck-%d", pid)) }

// serveScript runs the scripts' server. On SIGQUIT it writes its traffic and its goroutines to a
// file, because petrigate limits what servers may write to stderr. The server then continues to
// run, so that petrigate's goroutines do not change.
func serveScript() {
	said := &transcript{}
	quit := make(chan os.Signal, 1)
	signal.Notify(quit, syscall.SIGQUIT)
	go func() {
		<-quit
		var b bytes.Buffer
		b.WriteString(said.String())
		_ = pprof.Lookup("goroutine").WriteTo(&b, 2)
		path := stuckReport(os.Getpid())
		_ = os.WriteFile(path+".part", b.Bytes(), 0o600)
		_ = os.Rename(path+".part", path)
	}()
	out := io.MultiWriter(os.Stdout, transcriptWriter{said, "<-"})
	os.Exit(testserver.Main(os.Args[1:], io.TeeReader(os.Stdin, transcriptWriter{said, "->"}), out))
}

// killAndReport ends a silent proxy and its servers. It returns the traffic of the client and the
// servers, and the goroutines of the servers. The proxy's goroutines are in its log.
func (a *scriptAgent) killAndReport() string {
	var b strings.Builder
	fmt.Fprintf(&b, "the client has sent (->) and read (<-):\n%s", &a.said)
	for _, pid := range childrenOf(a.cmd.Process.Pid) {
		if p, err := os.FindProcess(pid); err != nil || p.Signal(syscall.SIGQUIT) != nil {
			continue
		}
		fmt.Fprintf(&b, "\nthe server of process %d has read (->) and written (<-):\n%s", pid, waitForReport(pid))
	}
	_ = a.cmd.Process.Signal(syscall.SIGQUIT) // makes the proxy print all goroutines to stderr
	return b.String()
}

// waitForReport waits briefly for the report of a server that hangs, and then removes the file.
func waitForReport(pid int) string {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for range 1000 {
		if text, err := os.ReadFile(stuckReport(pid)); err == nil {
			_ = os.Remove(stuckReport(pid))
			return string(text)
		}
		<-tick.C
	}
	return "it has not said\n"
}

// childrenOf finds the script servers that a process has started. If /proc does not exist, it finds
// none.
func childrenOf(pid int) (children []int) {
	found, _ := filepath.Glob("/proc/[0-9]*/stat") // cannot fail: the pattern is valid
	for _, path := range found {
		stat, err := os.ReadFile(path)
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline")) // the process may have ended
		_, rest, ok := strings.Cut(string(stat), ") ")
		fields := strings.Fields(rest) // state, parent, and so on
		if err != nil || !ok || len(fields) < 2 || fields[1] != strconv.Itoa(pid) || !bytes.HasPrefix([]byte(filepath.Base(string(line))), []byte("testserver")) {
			continue
		}
		if child, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil {
			children = append(children, child)
		}
	}
	return children
}
