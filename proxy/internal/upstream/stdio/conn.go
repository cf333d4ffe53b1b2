// Package stdio implements the stdio transport for connections to MCP servers: a child process that
// communicates over its standard input and output.
package stdio

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy/internal/burst"
	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/upstream/conn"
	"github.com/petrigate/petrigate/proxy/internal/upstream/process"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

var errEOF = errors.New("the server closed its output")

// A Conn is a connection to a child process. Two goroutines read the child's output, and a third
// waits for it to exit.
type Conn struct {
	conn.Dispatcher
	cmd       *exec.Cmd
	Pid       int
	Stdin     *process.Pipe
	stdout    *os.File
	stderr    *os.File
	malformed *conn.Trickle

	readers sync.WaitGroup // goroutines that read standard output and standard error
	gone    chan struct{}  // closed when the child has been reaped
	dead    bool           // whether all of the child's processes have ended; valid only after the child has been reaped
	exit    *os.ProcessState
}

// Spawn starts the child. The calling thread must not end before the child, because on Linux the
// kernel kills the child when that thread ends.
func Spawn(u *conn.Host) (*Conn, error) {
	path, err := process.Find(u.Config.Command, u.Config.Dir, u.Config.Env)
	if err != nil {
		return nil, conn.Permanently(process.StartError(u.Config.Command, err))
	}
	var ends pipes
	if err := ends.open(); err != nil {
		return nil, err
	}
	cmd := exec.Command(path, u.Config.Args...)
	cmd.Dir, cmd.Env = u.Config.Dir, process.Environment(os.Environ(), u.Config.Env)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = ends.child[0], ends.child[1], ends.child[2]
	process.Isolate(cmd)
	process.KeepFiles()
	err = cmd.Start()
	closeAll(ends.child)
	if err != nil {
		closeAll(ends.ours)
		return nil, process.StartError(u.Config.Command, err)
	}
	u.Options.Watchdog.Watch(cmd.Process.Pid)
	return newConn(u, cmd, ends), nil
}

// pipes holds both ends of the pipes for a child's three standard streams.
type pipes struct{ ours, child [3]*os.File }

func (p *pipes) open() error {
	for i := range p.ours {
		r, w, err := os.Pipe()
		if err != nil {
			closeAll(p.ours)
			closeAll(p.child)
			return fmt.Errorf("making a pipe: %w", err)
		}
		p.ours[i], p.child[i] = r, w
		if i == 0 {
			p.ours[i], p.child[i] = w, r
		}
	}
	return nil
}

// closeAll closes the files, ignoring nil ones.
func closeAll(files [3]*os.File) {
	for _, f := range files {
		f.Close()
	}
}

// newConn returns a Conn for a child that is already running, and starts its goroutines.
func newConn(u *conn.Host, cmd *exec.Cmd, ends pipes) *Conn {
	c := &Conn{
		Dispatcher: conn.NewDispatcher(u), cmd: cmd, Pid: cmd.Process.Pid, stdout: ends.ours[1], stderr: ends.ours[2],
		malformed: conn.NewTrickle(u.Log, "malformed output"), gone: make(chan struct{}),
	}
	c.Relays, c.Answer = func() bool { return u.Rev() == rev.Rev2025 }, c.sendAnswer
	c.Stdin = process.NewPipe(ends.ours[0], c.Fail)
	process.Widen(c.stdout)
	u.Words.Begin()
	c.readers.Add(2)
	go c.read()
	go c.readErrors()
	go c.awaitAndKill()
	return c
}

// awaitAndKill waits until the child exits, and then kills the rest of its process tree.
func (c *Conn) awaitAndKill() {
	process.AwaitExit(c.cmd)
	c.dead = process.KillTree(c.cmd, time.Now().Add(c.Host.Grace.Kill))
	if c.dead {
		c.Host.Options.Watchdog.Forget(c.Pid)
	}
	_ = c.cmd.Wait() // the error is ignored, because the process state contains the same information
	c.exit = c.cmd.ProcessState
	close(c.gone)
	c.readOutBy(time.Now().Add(time.Second))
}

// readOutBy sets t as the deadline for reading the child's output. Without a deadline, the
// goroutines that read the output might never stop: a process that has escaped from the child's
// process tree could keep the pipes open forever.
func (c *Conn) readOutBy(t time.Time) {
	_ = c.stdout.SetReadDeadline(t)
	_ = c.stderr.SetReadDeadline(t)
}

func (c *Conn) Send(x *conn.Exchange) {
	waiting := c.Pending.Add(x)
	if waiting == 0 {
		x.Deliver(conn.Reply{Err: conn.NotSent(c.Cause())})
		return
	}
	r := &x.Req
	err := c.Stdin.Write(&x.Position, waiting >= burst.MinInFlight, len(r.Params)+len(r.Method)+64, func(b []byte) []byte {
		return wire.AppendRequestInt(b, x.ID, r.Method, r.Params)
	})
	r.Params = nil
	if err != nil && c.Pending.Take(x.ID) != nil {
		x.Deliver(conn.Reply{Err: conn.NotSent(err)})
	}
}

func (c *Conn) Cancel(x *conn.Exchange, reason string) {
	c.Cancelled(x)
	_ = c.Notify(context.Background(), nil, conn.MethodCancelled, conn.CancelledParams(x.ID, reason))
}

func (c *Conn) Notify(_ context.Context, _ *conn.Session, method string, params []byte) error {
	var position int64
	return c.Stdin.Write(&position, false, len(params)+len(method)+64, func(b []byte) []byte {
		return wire.AppendNotification(b, method, params)
	})
}

func (c *Conn) Agree(*conn.Session) {}

// Retire ends the child: it closes the child's input, then sends SIGTERM, and finally kills the
// process tree.
func (c *Conn) Retire() {
	g := c.Host.Grace
	if c.Cause() != nil { // after a failure, the child gets no time to exit on its own
		g.Exit, g.Term = 0, min(g.Term, 500*time.Millisecond)
	}
	c.Fail(process.ErrClosed)
	c.Stdin.Shut()
	if !c.exitedWithin(g.Exit) {
		process.Terminate(c.cmd)
		if !c.exitedWithin(g.Term) {
			process.KillTree(c.cmd, time.Now().Add(g.Kill)) // ignore the result: awaitAndKill, on its own goroutine, also calls KillTree and stores the result
		}
	}
	dead := c.exitedWithin(g.Kill) && c.dead
	if !dead {
		c.readOutBy(time.Now())
	}
	c.readers.Wait()
	c.Lose(func(x *conn.Exchange) *conn.Lost {
		return &conn.Lost{Sent: c.Stdin.Reached(&x.Position), Dead: dead, Cause: c.Cause()}
	})
	c.malformed.Flush()
}

func (c *Conn) exitedWithin(d time.Duration) bool {
	select {
	case <-c.gone:
		return true
	case <-time.After(d):
		return false
	}
}

// read handles the child's messages until its output ends.
func (c *Conn) read() {
	defer c.readers.Done()
	defer c.stdout.Close()
	lines := process.NewLineReader(process.NewTail(c.stdout), c.Host.Config.MaxMessage)
	c.Fail(c.readError(forEachLine(lines, c.Host.Options.Burst, func(line []byte, kept bool) {
		if err := c.Dispatch(line, kept); err != nil {
			c.hearMalformed(line, err)
		}
	})))
}

// forEachLine calls take for each nonempty line of output, and returns the first read error. If
// together is not nil, its Begin and End methods are called before and after each group of lines
// that can be read without blocking. A group has at most [burst.MaxMessages] lines.
func forEachLine(lines *process.LineReader, together conn.Burst, take func(line []byte, kept bool)) error {
	var reading burst.Reading
	if together != nil {
		reading.Begin, reading.End = together.Begin, together.End
	}
	defer reading.Stop()
	for {
		line, kept, err := lines.Next()
		if err != nil {
			return err
		}
		reading.Before(together != nil && lines.More())
		if len(line) > 0 {
			take(line, kept)
		}
		reading.After(lines.More())
	}
}

// readError returns an error that explains the end of the output. It waits briefly for the
// process's exit status, because the process has usually exited.
func (c *Conn) readError(err error) error {
	if errors.Is(err, process.ErrTooLong) {
		return fmt.Errorf("%w: more than %d bytes", err, c.Host.Config.MaxMessage)
	}
	if c.exitedWithin(c.Host.Grace.Tell) {
		return errors.New(process.Describe(c.exit))
	}
	if errors.Is(err, io.EOF) {
		return errEOF
	}
	return fmt.Errorf("reading the server's output: %w", err)
}

// Reason explains err, an error from the connection. If the child has closed its input and has
// exited, Reason returns an error with the exit status. Otherwise, it returns err itself.
func (c *Conn) Reason(err error) error {
	if errors.Is(err, syscall.EPIPE) && c.exitedWithin(c.Host.Grace.Tell) {
		return errors.New(process.Describe(c.exit))
	}
	return err
}

// hearMalformed stores and logs a line of standard output that is not a valid message.
func (c *Conn) hearMalformed(line []byte, err error) {
	c.Host.Hear(conn.OnStdout, line)
	if c.malformed.Allow() {
		c.Host.Log.Warn("malformed line from upstream", "error", err, "line", text.Excerpt(string(line[:min(len(line), 300)]), 200))
	}
}

// sendAnswer sends the proxy's response to a server's request.
func (c *Conn) sendAnswer(answer []byte) {
	var position int64
	_ = c.Stdin.Write(&position, false, len(answer), func(b []byte) []byte { return append(b, answer...) })
}

// stderrLine is the maximum length, in bytes, of a line of standard error in the log. Longer lines
// are truncated.
const stderrLine = 4 << 10

// readErrors logs the child's standard error until EOF.
func (c *Conn) readErrors() {
	defer c.readers.Done()
	defer c.stderr.Close()
	log := conn.NewTrickle(c.Host.Log, "standard error")
	defer log.Flush()
	r := bufio.NewReaderSize(process.NewTail(c.stderr), stderrLine)
	for within := false; ; {
		line, more, err := r.ReadLine()
		if err != nil {
			return
		}
		if !within && len(line) > 0 {
			c.Host.Hear("", line)
			if log.Allow() {
				c.Host.Log.Info("upstream says", "stderr", text.Excerpt(string(line), stderrLine))
			}
		}
		within = more // whether the next read continues this line; only the beginning of a long line is logged
	}
}
