package chaos

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/petrigate/petrigate/internal/serve/control"
)

// A plant is the petrigate process under test, with those upstreams that are not its children.
type plant struct {
	options *options
	self    string // path of the test binary
	url     string
	serve   *exec.Cmd
	exited  chan struct{}
	exitErr error // set before exited is closed
	heap    *heapLog
	control *control.Client

	stop  context.CancelFunc
	tasks sync.WaitGroup
	calm  atomic.Bool // while set, nothing is done to the upstreams
	wild  []*wild

	once                        sync.Once
	kills, stops, startsOverAll atomic.Int64
}

// A wild is an upstream. An upstream over stdio is a child of each petrigate process.
type wild struct {
	addr string // address, if over HTTP

	mu  sync.Mutex
	cmd *exec.Cmd // process, if over HTTP; nil if it is down
}

func newPlant(ctx context.Context, o *options) (*plant, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &plant{options: o, self: self, exited: make(chan struct{}), heap: &heapLog{}}
	addrs, err := freeAddrs(o.upstreams + 1)
	if err != nil {
		return nil, err
	}
	ctx, p.stop = context.WithCancel(ctx)
	for i := range o.upstreams {
		w := &wild{}
		if overHTTP(i) {
			w.addr = addrs[i]
		}
		p.wild = append(p.wild, w)
	}
	if err := p.writeConfig(); err != nil {
		return nil, err
	}
	for i, w := range p.wild {
		if w.addr != "" {
			p.tasks.Go(func() { p.keepUp(ctx, i) })
		}
	}
	if err := p.start(ctx, addrs[o.upstreams]); err != nil {
		p.close()
		return nil, err
	}
	p.tasks.Go(func() { p.torment(ctx) })
	return p, nil
}

// freeAddrs returns addresses that no one listens on. The operating system does not hand them out
// to programs that ask for any port, because no other program must be reachable there while an
// upstream is down.
func freeAddrs(n int) (addrs []string, err error) {
	var open []net.Listener
	defer func() {
		for _, l := range open {
			_ = l.Close() // only after all were found; otherwise, the same one could be returned twice
		}
	}()
	for range 100 * n {
		addr := "127.0.0.1:" + strconv.Itoa(20_000+rand.IntN(10_000))
		l, err := net.Listen("tcp", addr)
		if err != nil {
			continue
		}
		open = append(open, l)
		if addrs = append(addrs, addr); len(addrs) == n {
			return addrs, nil
		}
	}
	return nil, errors.New("all ports are taken")
}

func (p *plant) upstreamArgs(i int) []string {
	args := []string{
		upstreamVerb, "-name", name(i), "-record", filepath.Join(p.options.dir, "executed."+name(i)),
		"-seed", strconv.FormatUint(p.options.seed, 10), "-calm", p.span().String(),
	}
	if addr := p.wild[i].addr; addr != "" {
		args = append(args, "-http", addr)
	}
	return args
}

// span returns how long an upstream is left alone, on average. Even a short run must see some
// events; in a long run, an upstream must be up most of the time, although petrigate waits longer
// each time that the upstream is lost.
func (p *plant) span() time.Duration {
	return min(max(p.options.duration/10, 5*time.Second), 30*time.Second)
}

// environment keeps this run's sockets separate from the user's.
func (p *plant) environment() []string {
	return append(os.Environ(), "PETRIGATE_RUNTIME_DIR="+filepath.Join(p.options.dir, "run"), "XDG_STATE_HOME="+filepath.Join(p.options.dir, "state"), "GODEBUG=gctrace=1")
}

// start starts the petrigate process that serves HTTP, and waits until it listens.
func (p *plant) start(ctx context.Context, addr string) error {
	p.url = "http://" + addr + "/mcp"
	p.serve = exec.Command(p.options.petrigate, "serve", "--config", p.configFile(), "--http", addr, "--auth", "none")
	p.serve.Env = p.environment()
	log, err := os.Create(filepath.Join(p.options.dir, "serve.log"))
	if err != nil {
		return err
	}
	p.serve.Stderr = io.MultiWriter(log, p.heap)
	if err := p.serve.Start(); err != nil {
		return err
	}
	go func() {
		p.exitErr = p.serve.Wait()
		_ = log.Close()
		close(p.exited)
	}()
	for range patience / (100 * time.Millisecond) {
		if found, err := control.Find(filepath.Join(p.options.dir, "run")); err == nil && len(found) == 1 {
			p.control = found[0]
			if conn, err := net.Dial("tcp", addr); err == nil {
				return conn.Close()
			}
		}
		select {
		case <-p.exited:
			return fmt.Errorf("petrigate ended: %v; see %s", p.exitErr, log.Name())
		default:
		}
		if !wait(ctx, 100*time.Millisecond) {
			break
		}
	}
	return errors.New("petrigate does not listen")
}

// keepUp runs an upstream over HTTP, and restarts it some time after it has ended.
func (p *plant) keepUp(ctx context.Context, i int) {
	w, d := p.wild[i], newDice(p.options.seed, "keep", name(i))
	for ctx.Err() == nil {
		cmd := exec.CommandContext(ctx, p.self, p.upstreamArgs(i)...)
		in, err := cmd.StdinPipe()
		if err != nil || cmd.Start() != nil {
			return
		}
		p.startsOverAll.Add(1)
		w.mu.Lock()
		w.cmd = cmd
		w.mu.Unlock()
		_ = cmd.Wait()
		_ = in.Close()
		w.mu.Lock()
		w.cmd = nil
		w.mu.Unlock()
		wait(ctx, d.span(0, time.Second))
	}
}

// torment kills and stops upstreams from outside.
func (p *plant) torment(ctx context.Context) {
	d := newDice(p.options.seed, "torment")
	for wait(ctx, d.about(p.span()/time.Duration(len(p.wild)))) {
		if p.calm.Load() {
			continue
		}
		pids := p.pids(d.n(len(p.wild)))
		if d.n(2) == 0 {
			p.kills.Add(1)
			signalAll(pids, syscall.SIGKILL)
			continue
		}
		p.stops.Add(1)
		signalAll(pids, syscall.SIGSTOP)
		span := d.span(200*time.Millisecond, 4*time.Second)
		p.tasks.Go(func() {
			wait(ctx, span)
			signalAll(pids, syscall.SIGCONT)
		})
	}
}

// pids returns the process IDs of an upstream. If stdio clients have their own petrigate processes,
// the upstream has one process for each of them.
func (p *plant) pids(i int) []int {
	var pids []int
	for _, proc := range processes(p.options.dir) {
		if proc.upstream == name(i) {
			pids = append(pids, proc.pid)
		}
	}
	return pids
}

func signalAll(pids []int, s syscall.Signal) {
	for _, pid := range pids {
		_ = syscall.Kill(pid, s) // the process may already have ended
	}
}

// close ends petrigate as a user would, and then the upstreams over HTTP.
func (p *plant) close() {
	p.once.Do(func() {
		if p.control != nil {
			_ = p.serve.Process.Signal(syscall.SIGTERM)
			select {
			case <-p.exited:
			case <-time.After(patience):
				_ = p.serve.Process.Kill()
				<-p.exited
			}
		}
		p.stop()
		p.tasks.Wait()
	})
}
