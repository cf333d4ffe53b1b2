package chaos

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A process is a process of this run, which means that its command line contains the directory.
type process struct {
	pid      int
	upstream string // name of the upstream; empty for petrigate
}

// processes returns all processes that run in dir, except this one.
func processes(dir string) []process {
	var found []process
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		line, err := os.ReadFile(file)
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil || pid == os.Getpid() || !bytes.Contains(line, []byte(dir)) {
			continue
		}
		p := process{pid: pid}
		args := bytes.Split(line, []byte{0})
		if i := slices.IndexFunc(args, func(a []byte) bool { return string(a) == "-name" }); i > 0 && i+1 < len(args) {
			p.upstream = string(args[i+1])
		}
		found = append(found, p)
	}
	return found
}

// A figure contains the resources that petrigate uses while it is idle.
type figure struct {
	when       string
	goroutines int
	files      int // other than the following ones
	kept       int // idle connections to upstreams, kept for the next request
	threads    int
	children   int // of this petrigate process
	processes  int // of the whole run
	resident   int // in KiB
	live       int // MiB left by the garbage collector, minimum since the last figure
	clients    int
}

func (f figure) String() string {
	return fmt.Sprintf("%-6s goroutines %d, files %d and %d connections to upstreams, threads %d, children %d, processes %d, RSS %.1f MiB, live heap %d MiB",
		f.when, f.goroutines, f.files, f.kept, f.threads, f.children, f.processes, float64(f.resident)/1024, f.live)
}

// measure waits until petrigate is idle and then measures for a few seconds. It returns the figure
// with the fewest goroutines.
func (p *plant) measure(ctx context.Context, when string) figure {
	p.calm.Store(true)
	defer p.calm.Store(false)
	best := figure{}
	for i := 0; i < 20 || i < 100 && best.clients > 0; i++ {
		if f := p.look(when); f.goroutines > 0 && (best.goroutines == 0 || f.clients < best.clients || f.clients == best.clients && f.goroutines <= best.goroutines) {
			best = f
		}
		if !wait(ctx, 200*time.Millisecond) {
			break
		}
	}
	best.live = p.heap.take()
	return best
}

func (p *plant) look(when string) figure {
	f := figure{when: when}
	status, err := p.control.Status()
	if err != nil {
		return f
	}
	pid := strconv.Itoa(status.Pid)
	f.goroutines, f.clients = status.Goroutines, status.Clients
	files, _ := os.ReadDir("/proc/" + pid + "/fd")
	threads, _ := os.ReadDir("/proc/" + pid + "/task")
	f.kept = p.kept(pid)
	f.files, f.threads = len(files)-f.kept, len(threads)
	for _, t := range threads {
		children, _ := os.ReadFile("/proc/" + pid + "/task/" + t.Name() + "/children")
		f.children += len(bytes.Fields(children))
	}
	f.processes = len(processes(p.options.dir))
	if b, err := os.ReadFile("/proc/" + pid + "/status"); err == nil {
		if m := regexp.MustCompile(`VmRSS:\s*(\d+)`).FindSubmatch(b); m != nil {
			f.resident, _ = strconv.Atoi(string(m[1]))
		}
	}
	return f
}

// kept counts a process's connections to upstreams over HTTP. After a busy time, they are kept for
// a while, up to a limit for each upstream.
func (p *plant) kept(pid string) (n int) {
	own := map[string]bool{}
	links, _ := filepath.Glob("/proc/" + pid + "/fd/*")
	for _, link := range links {
		if to, err := os.Readlink(link); err == nil {
			own[to] = true
		}
	}
	upstreams := map[string]bool{}
	for _, w := range p.wild {
		if _, port, err := net.SplitHostPort(w.addr); err == nil {
			number, _ := strconv.Atoi(port)
			upstreams[fmt.Sprintf(":%04X", number)] = true
		}
	}
	table, _ := os.ReadFile("/proc/" + pid + "/net/tcp")
	for line := range strings.Lines(string(table)) {
		f := strings.Fields(line) // see proc_pid_net(5)
		if len(f) > 9 && own["socket:["+f[9]+"]"] && len(f[2]) > 5 && upstreams[f[2][len(f[2])-5:]] {
			n++
		}
	}
	return n
}

// A heapLog parses the output of GODEBUG=gctrace=1, because the heap left after a collection does
// not depend on when the last one took place.
type heapLog struct {
	mu    sync.Mutex
	rest  []byte
	least int // in MiB; 0 if there was no collection
}

func (h *heapLog) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.rest = append(h.rest, b...)
	for {
		line, rest, found := bytes.Cut(h.rest, []byte("\n"))
		if !found {
			return len(b), nil
		}
		h.rest = rest
		if m := regexp.MustCompile(`^gc \d+ @.*->(\d+) MB`).FindSubmatch(line); m != nil {
			if n, err := strconv.Atoi(string(m[1])); err == nil && (h.least == 0 || n < h.least) {
				h.least = n
			}
		}
	}
}

// take returns the minimum since it was last called.
func (h *heapLog) take() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := h.least
	h.least = 0
	return n
}
