package front

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/proxy/internal/lines"
	"github.com/petrigate/petrigate/proxy/internal/pipeline"
	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// ServeStdio serves one client: in carries its messages, one a line, and out
// carries ours and nothing else. It returns when in ends, when ctx ends, or
// when out cannot be written; calls that are not answered by then are
// cancelled. It is called once for a connection.
func (p *Front) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	w := lines.NewWriter(out)
	c := p.Sessions.NewClient("stdio", "local", p.Sessions.NewSession("connection", "local"), w)
	p.Sessions.Stdio.Store(w)
	ctx, cancel := context.WithCancelCause(ctx)
	var calls sync.WaitGroup
	var taking sync.Mutex // held while a message is taken, one at a time
	defer func() {
		p.Sessions.Stdio.CompareAndSwap(w, nil)
		cancel(spec.ErrGone)
		taking.Lock() // no message is taken after this
		p.Router.DropClient(c)
		taking.Unlock()
		calls.Wait()
		w.Close()
	}()
	take := func(line []byte) error {
		taking.Lock()
		defer taking.Unlock()
		if ctx.Err() == nil && len(line) > 0 {
			p.take(ctx, c, line, w, &calls)
		}
		return context.Cause(ctx)
	}
	ended := make(chan error, 1)
	go func() { ended <- p.readLines(in, w, take) }()
	select {
	case err := <-ended:
		if err == nil {
			p.farewell(ctx, c, w)
		}
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-w.Broken():
		return w.Err()
	}
}

// lastWait is how long a client that says no more may still get answers.
const lastWait = time.Second

// farewell lets the requests of a client that has closed its side be answered:
// it may have said all it wanted to say, as a pipe from a file does.
func (p *Front) farewell(ctx context.Context, c *session.Client, w *lines.Writer) {
	timer := time.NewTimer(lastWait)
	defer timer.Stop()
	select {
	case <-c.Requests.Drained():
	case <-timer.C:
	case <-ctx.Done():
	case <-w.Broken():
	}
}

// readLines takes one message a line to its end, or until take has an error.
// Where more than one is at hand, what comes of them goes out together.
func (p *Front) readLines(in io.Reader, w *lines.Writer, take func(line []byte) error) error {
	r := lines.NewReader(in, p.MaxRequest)
	var release func()
	defer func() {
		if release != nil {
			release()
		}
	}()
	for {
		line, err := r.Next()
		switch {
		case errors.Is(err, lines.ErrTooLong):
			w.Reply(wire.AppendError(nil, nil, spec.CodeInvalidRequest, err.Error(), nil))
			continue
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
		more := r.More()
		if more && release == nil {
			release = p.cork(w)
		}
		if err := take(line); err != nil {
			return err
		}
		if !more && release != nil {
			release()
			release = nil
		}
	}
}

// cork holds back what is written to the client and to all upstreams.
func (p *Front) cork(w *lines.Writer) (release func()) {
	w.Cork()
	releases := []func(){w.Uncork}
	for _, u := range p.Pool.Servers {
		releases = append(releases, u.Cork())
	}
	return func() {
		for _, release := range releases {
			release()
		}
	}
}

// take handles one message. Requests are noted under their id here, by the
// reader, so that a cancellation that follows finds them.
func (p *Front) take(ctx context.Context, c *session.Client, line []byte, w *lines.Writer, calls *sync.WaitGroup) {
	m, fault := wire.Parse(line, wire.Limits{Size: p.MaxRequest})
	switch {
	case fault != nil:
		if !fault.Silent {
			w.Reply(fault.Append(nil))
		}
	case m.Kind == wire.Response:
		c.Questions.Response(m)
	case m.Kind == wire.Notification:
		p.Router.Notified(c, m)
	default:
		p.request(ctx, c, m, w, calls)
	}
}

// request begins one request. A call of a tool is decided and sent here, on
// the reader, since that never waits; what may wait runs beside it.
func (p *Front) request(ctx context.Context, c *session.Client, m wire.Message, w *lines.Writer, calls *sync.WaitGroup) {
	meta, fault := wire.ParseMeta(m.Params)
	if fault == nil && m.Method == "initialize" {
		fault = wire.CheckHandshake(m)
	}
	if fault != nil {
		fault.ID = m.ID
		w.Reply(fault.Append(nil))
		return
	}
	if v := meta.ProtocolVersion; rev.Of(meta).PerRequest && !mcp.IsValidProtocolVersion(v) { // as over HTTP
		w.Reply(spec.UnsupportedVersion(m.ID, v))
		return
	}
	if spec.IsCall(m.Method) {
		if t, ok := p.Pipeline.Prepare(c, m, meta, w); ok {
			t.Aside = p.beside(ctx, t, calls)
			p.call(t)
		}
		return
	}
	ctx, cancel := context.WithCancelCause(ctx)
	if !c.Requests.Begin(wire.IDKey(m.ID), session.CancelFunc(cancel)) {
		cancel(nil)
		p.duplicate(c, m, w)
		return
	}
	serve := func() {
		defer cancel(nil)
		defer c.Requests.Answered()
		end := sync.OnceFunc(func() { c.Requests.End(wire.IDKey(m.ID)) })
		defer end()
		s := session.NewEnding(w, end)
		defer p.Life.Recovered(m.Method, m.ID, s)
		p.Router.Dispatch(ctx, c, m, meta, s)
	}
	if m.Method == "initialize" { // what follows may depend on it
		serve()
		return
	}
	calls.Go(serve)
}

// call serves a call on the reader.
func (p *Front) call(t *pipeline.Call) {
	if !t.Client.Requests.Begin(wire.IDKey(t.ID), t) {
		p.duplicateCall(t)
		return
	}
	defer p.Life.Recovered(t.Method, t.ID, t.Stream)
	p.Pipeline.Accept(t)
}

// beside runs what may wait on a goroutine of its own, which a cancellation
// of the call ends.
func (p *Front) beside(ctx context.Context, t *pipeline.Call, calls *sync.WaitGroup) func(func()) {
	return func(f func()) {
		t.Bind(ctx)
		calls.Go(func() {
			defer p.Life.Recovered(t.Method, t.ID, t.Stream)
			f()
		})
	}
}

// duplicate refuses a request whose id is in flight. The first is not touched.
func (p *Front) duplicate(c *session.Client, m wire.Message, s spec.Stream) {
	p.Life.Log.Warn("request refused: its id is in flight", "method", m.Method, "session", c.Session.ID)
	s.Reply(wire.AppendError(nil, m.ID, spec.CodeInvalidRequest, "A request with this id is still in flight.", nil))
}

// duplicateCall is duplicate for a call, which is on record.
func (p *Front) duplicateCall(t *pipeline.Call) {
	r := pipeline.PlainRefusal(string(gate.KindDuplicate), "A request with this id is still in flight; this call was not made.")
	if t.Tool != nil {
		p.Pipeline.RecordRefusal(t, r)
	}
	t.AnswerOnly(r)
}
