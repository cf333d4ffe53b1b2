package upstream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// grace is how long a child is given at each step of its end.
type grace struct {
	exit time.Duration // after the end of its input, before it is asked to end
	term time.Duration // after that, before it is killed
	kill time.Duration // after that, before it is reported as not killable
	tell time.Duration // after the end of its output, for its exit status
}

func usualGrace() grace {
	return grace{exit: 2 * time.Second, term: 2 * time.Second, kill: 5 * time.Second, tell: 2 * time.Second}
}

var errEOF = errors.New("the server closed its output")

// stdioConn is a child process and what is under way with it.
type stdioConn struct {
	host      *host
	cmd       *exec.Cmd
	pid       int
	stdin     *pipe
	stdout    *os.File
	stderr    *os.File
	pending   *pending
	asked     inquiries
	malformed *trickle

	readers sync.WaitGroup // of stdout and stderr
	gone    chan struct{}  // closed when the child was reaped
	dead    bool           // nothing of its tree is left; set before gone
	exit    *os.ProcessState

	ending
}

// spawn starts the child. It must be called on a thread that outlives it.
func (u *host) spawn() (*stdioConn, error) {
	path, err := find(u.config.Command, u.config.Dir, u.config.Env)
	if err != nil {
		return nil, permanent{startError(u.config.Command, err)}
	}
	var ends pipes
	if err := ends.open(); err != nil {
		return nil, err
	}
	cmd := exec.Command(path, u.config.Args...)
	cmd.Dir, cmd.Env = u.config.Dir, environment(ourEnvironment(), u.config.Env)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = ends.child[0], ends.child[1], ends.child[2]
	isolate(cmd)
	keepFiles()
	err = cmd.Start()
	ends.closeChild()
	if err != nil {
		ends.closeOurs()
		return nil, startError(u.config.Command, err)
	}
	u.options.Watchdog.watch(cmd.Process.Pid)
	return u.adopt(cmd, ends)
}

// startError says why a command cannot be started.
func startError(command string, err error) error {
	var path *fs.PathError
	var lookup *exec.Error
	reason := err
	switch {
	case errors.As(err, &lookup):
		reason = lookup.Err
	case errors.As(err, &path):
		reason = path.Err
	}
	return fmt.Errorf("starting %q: %w", command, reason)
}

// pipes are the three standard streams of a child, both ends.
type pipes struct{ ours, child [3]*os.File }

func (p *pipes) open() error {
	for i := range p.ours {
		r, w, err := os.Pipe()
		if err != nil {
			p.closeOurs()
			p.closeChild()
			return fmt.Errorf("making a pipe: %w", err)
		}
		p.ours[i], p.child[i] = r, w
		if i == 0 {
			p.ours[i], p.child[i] = w, r
		}
	}
	return nil
}

func (p *pipes) closeOurs()  { closeAll(p.ours[:]) }
func (p *pipes) closeChild() { closeAll(p.child[:]) }

func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			f.Close()
		}
	}
}

// adopt begins to serve a child that has started.
func (u *host) adopt(cmd *exec.Cmd, ends pipes) (*stdioConn, error) {
	c := &stdioConn{
		host: u, cmd: cmd, pid: cmd.Process.Pid, stdout: ends.ours[1], stderr: ends.ours[2], pending: newPending(),
		malformed: newTrickle(u.log, "malformed output"),
		gone:      make(chan struct{}), ending: newEnding(),
	}
	var err error
	if c.stdin, err = newPipe(ends.ours[0], c.fail); err != nil {
		killTree(cmd, time.Now().Add(u.grace.kill))
		u.options.Watchdog.forget(cmd.Process.Pid)
		_ = cmd.Wait()
		ends.closeOurs()
		return nil, err
	}
	widen(c.stdout)
	u.words.begin()
	c.readers.Add(2)
	go c.read()
	go c.readErrors()
	go c.reap()
	return c, nil
}

// reap waits for the child's end, and takes what is left of its tree along.
func (c *stdioConn) reap() {
	awaitExit(c.cmd)
	c.dead = killTree(c.cmd, time.Now().Add(c.host.grace.kill))
	if c.dead {
		c.host.options.Watchdog.forget(c.pid)
	}
	_ = c.cmd.Wait() // its error is in the state
	c.exit = c.cmd.ProcessState
	close(c.gone)
	c.readOutBy(time.Now().Add(time.Second))
}

// readOutBy lets the readers take what was written until then, but no longer:
// somebody who fled may hold the other ends open.
func (c *stdioConn) readOutBy(t time.Time) {
	_ = c.stdout.SetReadDeadline(t)
	_ = c.stderr.SetReadDeadline(t)
}

func (c *stdioConn) send(x *Exchange) {
	if !c.pending.add(x) {
		x.deliver(Reply{Err: notSent(c.cause())})
		return
	}
	r := &x.req
	err := c.stdin.write(&x.position, len(r.Params)+len(r.Method)+64, func(b []byte) []byte {
		return wire.AppendRequestInt(b, x.id, r.Method, r.Params)
	})
	r.Params = nil
	if err != nil && c.pending.take(x.id) != nil {
		x.deliver(Reply{Err: notSent(err)})
	}
}

func (c *stdioConn) cancel(x *Exchange, reason string) {
	if forgotten := c.pending.cancel(x); forgotten != nil {
		forgotten.deliver(Reply{Err: &Lost{Sent: true, Cause: errForgotten}})
	}
	_ = c.notify(context.Background(), nil, "notifications/cancelled", appendCancelled(nil, x.id, reason))
}

func (c *stdioConn) notify(_ context.Context, _ *session, method string, params []byte) error {
	var position int64
	return c.stdin.write(&position, len(params)+len(method)+64, func(b []byte) []byte {
		return wire.AppendNotification(b, method, params)
	})
}

func (c *stdioConn) agree(*session) {}

// retire ends the child: it sees the end of its input, is asked to end, and
// is killed with all that belongs to it.
func (c *stdioConn) retire() {
	g := c.host.grace
	if c.cause() != nil { // it is of no use any more; only its tree is left to end
		g.exit, g.term = 0, min(g.term, 500*time.Millisecond)
	}
	c.fail(errClosed)
	c.stdin.shut()
	if !c.goneWithin(g.exit) {
		terminate(c.cmd)
		if !c.goneWithin(g.term) {
			killTree(c.cmd, time.Now().Add(g.kill)) // reap notices, and knows the result
		}
	}
	dead := c.goneWithin(g.kill) && c.dead
	if !dead {
		c.readOutBy(time.Now())
	}
	c.readers.Wait()
	c.asked.close()
	for _, x := range c.pending.close() {
		x.deliver(Reply{Err: &Lost{Sent: c.stdin.reached(&x.position), Dead: dead, Cause: c.cause()}})
	}
	c.malformed.flush()
}

func (c *stdioConn) goneWithin(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-c.gone:
		return true
	case <-t.C:
		return false
	}
}

// read takes the child's messages until its output ends.
func (c *stdioConn) read() {
	defer c.readers.Done()
	defer c.stdout.Close()
	lines := newLineReader(&tail{file: c.stdout}, c.host.config.MaxMessage)
	burst := burst{told: c.host.options.OnBurst}
	defer burst.set(false)
	for {
		line, kept, err := lines.next()
		if err != nil {
			c.fail(c.readError(err))
			return
		}
		burst.set(burst.on || lines.more())
		if len(line) > 0 {
			c.take(line, kept)
		}
		burst.set(burst.on && lines.more())
	}
}

// burst tells of the times in which more messages are at hand.
type burst struct {
	told func(begins bool)
	on   bool
}

func (b *burst) set(on bool) {
	if b.on != on && b.told != nil {
		b.on = on
		b.told(on)
	}
}

// readError says why there is nothing more to read. The end of the output is
// mostly the end of the process, which is worth a moment.
func (c *stdioConn) readError(err error) error {
	if errors.Is(err, errTooLong) {
		return fmt.Errorf("%w: more than %d bytes", err, c.host.config.MaxMessage)
	}
	if c.goneWithin(c.host.grace.tell) {
		return errors.New(describe(c.exit))
	}
	if errors.Is(err, io.EOF) {
		return errEOF
	}
	return fmt.Errorf("reading the server's output: %w", err)
}

// reason says of input that nobody takes any more that its reader has ended,
// if it has.
func (c *stdioConn) reason(err error) error {
	if errors.Is(err, syscall.EPIPE) && c.goneWithin(c.host.grace.tell) {
		return errors.New(describe(c.exit))
	}
	return err
}

// take handles one message. If kept, the bytes are ours.
func (c *stdioConn) take(line []byte, kept bool) {
	m, err := wire.ParseUpstream(line)
	switch {
	case err != nil:
		c.spoilt(line, err)
	case m.Kind == wire.Response:
		c.reply(m, kept)
	case m.Kind == wire.Request:
		if c.host.era() == Modern || !c.host.inquire(nil, &c.asked, m, c.say) {
			c.answer(m)
		}
	case m.Method == methodCancelled:
		c.asked.cancelled(m.Params)
	default:
		c.host.route(c.pending, m.Method, bytes.Clone(m.Params))
	}
}

// spoilt logs a line that is no message.
func (c *stdioConn) spoilt(line []byte, err error) {
	c.host.hear(onStdout, line)
	if c.malformed.allow() {
		c.host.log.Warn("malformed line from upstream", "error", err, "line", text.Excerpt(string(line[:min(len(line), 300)]), 200))
	}
	if id, ok := spoiltAnswer(line); ok {
		if x := c.pending.take(id); x != nil {
			x.deliver(Reply{Err: &Lost{Sent: true, Cause: errMalformed}})
		}
	}
}

func (c *stdioConn) reply(m wire.Message, kept bool) {
	id, _ := m.Int()
	x := c.pending.take(id)
	if x == nil {
		c.host.log.Debug("answer to no request dropped", "id", id)
		return
	}
	x.deliver(replyOf(m, kept))
}

// answer answers a request of the server.
func (c *stdioConn) answer(m wire.Message) {
	var position int64
	_ = c.stdin.write(&position, len(m.ID)+64, func(b []byte) []byte { return appendAnswer(b, m) })
}

// say sends our answer to an inquiry.
func (c *stdioConn) say(answer []byte) {
	var position int64
	_ = c.stdin.write(&position, len(answer), func(b []byte) []byte { return append(b, answer...) })
}

// route passes a notification to the request that it belongs to, or on.
func (u *host) route(p *pending, method string, params []byte) {
	switch method {
	case "notifications/progress":
		if x := p.progressing(params); x == nil || !x.notify(method, params) {
			u.heard(method, params) // it may be that of a task
		}
	default:
		u.heard(method, params)
	}
}
