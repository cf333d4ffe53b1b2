// Package stdio speaks MCP with a child process over its standard input and output.
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

// Conn is a child process and what is under way with it.
type Conn struct {
	conn.Dispatcher
	cmd       *exec.Cmd
	Pid       int
	Stdin     *process.Pipe
	stdout    *os.File
	stderr    *os.File
	malformed *conn.Trickle

	readers sync.WaitGroup // of stdout and stderr
	gone    chan struct{}  // closed when the child was reaped
	dead    bool           // nothing of its tree is left; set before gone
	exit    *os.ProcessState
}

// Spawn starts the child. It must be called on a thread that outlives it.
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
	return adopt(u, cmd, ends), nil
}

// pipes are the three standard streams of a child, both ends.
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

// closeAll closes files; nil is none.
func closeAll(files [3]*os.File) {
	for _, f := range files {
		f.Close()
	}
}

// adopt begins to serve a child that has started.
func adopt(u *conn.Host, cmd *exec.Cmd, ends pipes) *Conn {
	c := &Conn{
		Dispatcher: conn.NewDispatcher(u), cmd: cmd, Pid: cmd.Process.Pid, stdout: ends.ours[1], stderr: ends.ours[2],
		malformed: conn.NewTrickle(u.Log, "malformed output"), gone: make(chan struct{}),
	}
	c.Relays, c.Answer = func() bool { return u.Rev() == rev.Rev2025 }, c.say
	c.Stdin = process.NewPipe(ends.ours[0], c.Fail)
	process.Widen(c.stdout)
	u.Words.Begin()
	c.readers.Add(2)
	go c.read()
	go c.readErrors()
	go c.reap()
	return c
}

// reap waits for the child's end, and takes what is left of its tree along.
func (c *Conn) reap() {
	process.AwaitExit(c.cmd)
	c.dead = process.KillTree(c.cmd, time.Now().Add(c.Host.Grace.Kill))
	if c.dead {
		c.Host.Options.Watchdog.Forget(c.Pid)
	}
	_ = c.cmd.Wait() // its error is in the state
	c.exit = c.cmd.ProcessState
	close(c.gone)
	c.readOutBy(time.Now().Add(time.Second))
}

// readOutBy lets the readers take what was written until then, but no longer:
// somebody who fled may hold the other ends open.
func (c *Conn) readOutBy(t time.Time) {
	_ = c.stdout.SetReadDeadline(t)
	_ = c.stderr.SetReadDeadline(t)
}

func (c *Conn) Send(x *conn.Exchange) {
	if !c.Pending.Add(x) {
		x.Deliver(conn.Reply{Err: conn.NotSent(c.Cause())})
		return
	}
	r := &x.Req
	write := c.Stdin.Write
	if c.Pending.Len() >= burst.Several {
		write = c.Stdin.WriteTogether
	}
	err := write(&x.Position, len(r.Params)+len(r.Method)+64, func(b []byte) []byte {
		return wire.AppendRequestInt(b, x.ID, r.Method, r.Params)
	})
	r.Params = nil
	if err != nil && c.Pending.Take(x.ID) != nil {
		x.Deliver(conn.Reply{Err: conn.NotSent(err)})
	}
}

func (c *Conn) Cancel(x *conn.Exchange, reason string) {
	c.Cancelled(x)
	_ = c.Notify(context.Background(), nil, conn.MethodCancelled, conn.AppendCancelled(nil, x.ID, reason))
}

func (c *Conn) Notify(_ context.Context, _ *conn.Session, method string, params []byte) error {
	var position int64
	return c.Stdin.Write(&position, len(params)+len(method)+64, func(b []byte) []byte {
		return wire.AppendNotification(b, method, params)
	})
}

func (c *Conn) Agree(*conn.Session) {}

// Retire ends the child: it sees the end of its input, is asked to end, and
// is killed with all that belongs to it.
func (c *Conn) Retire() {
	g := c.Host.Grace
	if c.Cause() != nil { // it is of no use any more; only its tree is left to end
		g.Exit, g.Term = 0, min(g.Term, 500*time.Millisecond)
	}
	c.Fail(process.ErrClosed)
	c.Stdin.Shut()
	if !c.goneWithin(g.Exit) {
		process.Terminate(c.cmd)
		if !c.goneWithin(g.Term) {
			process.KillTree(c.cmd, time.Now().Add(g.Kill)) // reap notices, and knows the result
		}
	}
	dead := c.goneWithin(g.Kill) && c.dead
	if !dead {
		c.readOutBy(time.Now())
	}
	c.readers.Wait()
	c.Lose(func(x *conn.Exchange) *conn.Lost {
		return &conn.Lost{Sent: c.Stdin.Reached(&x.Position), Dead: dead, Cause: c.Cause()}
	})
	c.malformed.Flush()
}

func (c *Conn) goneWithin(d time.Duration) bool {
	select {
	case <-c.gone:
		return true
	case <-time.After(d):
		return false
	}
}

// read takes the child's messages until its output ends.
func (c *Conn) read() {
	defer c.readers.Done()
	defer c.stdout.Close()
	lines := process.NewLineReader(process.NewTail(c.stdout), c.Host.Config.MaxMessage)
	c.Fail(c.readError(each(lines, c.Host.Options.Burst, c.take)))
}

// each takes each line that is not empty, until an error. It tells together, which may be nil,
// of lines that are at hand together, [burst.Most] at the most.
func each(lines *process.LineReader, together conn.Burst, take func(line []byte, kept bool)) error {
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

// readError says why there is nothing more to read. The end of the output is
// mostly the end of the process, which is worth a moment.
func (c *Conn) readError(err error) error {
	if errors.Is(err, process.ErrTooLong) {
		return fmt.Errorf("%w: more than %d bytes", err, c.Host.Config.MaxMessage)
	}
	if c.goneWithin(c.Host.Grace.Tell) {
		return errors.New(process.Describe(c.exit))
	}
	if errors.Is(err, io.EOF) {
		return errEOF
	}
	return fmt.Errorf("reading the server's output: %w", err)
}

// Reason says of input that nobody takes any more that its reader has ended,
// if it has.
func (c *Conn) Reason(err error) error {
	if errors.Is(err, syscall.EPIPE) && c.goneWithin(c.Host.Grace.Tell) {
		return errors.New(process.Describe(c.exit))
	}
	return err
}

// take handles one message. If kept, the bytes are ours.
func (c *Conn) take(line []byte, kept bool) {
	err := c.Dispatch(line, kept)
	if err == nil {
		return
	}
	c.Host.Hear(conn.OnStdout, line)
	if c.malformed.Allow() {
		c.Host.Log.Warn("malformed line from upstream", "error", err, "line", text.Excerpt(string(line[:min(len(line), 300)]), 200))
	}
}

// say sends our answer to a request of the server.
func (c *Conn) say(answer []byte) {
	var position int64
	_ = c.Stdin.Write(&position, len(answer), func(b []byte) []byte { return append(b, answer...) })
}

// stderrLine is the longest part of a line on standard error that is logged.
const stderrLine = 4 << 10

// readErrors logs what the child says on its standard error, until it ends.
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
		within = more // the rest of a line that is too long is left out
	}
}
