package front

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

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
func (f *Front) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	w := lines.NewWriter(out)
	c, err := f.Sessions.Connect("stdio", "local", nil, w)
	if err != nil {
		return err
	}
	f.Sessions.Stdio.Store(w)
	ctx, cancel := context.WithCancelCause(ctx)
	var calls sync.WaitGroup
	var taking sync.Mutex // held while a message is taken, one at a time
	defer func() {
		f.Sessions.Stdio.CompareAndSwap(w, nil)
		cancel(spec.ErrGone)
		taking.Lock() // no message is taken after this
		f.Router.DropClient(c)
		taking.Unlock()
		calls.Wait()
		w.Close()
	}()
	take := func(line []byte) error {
		taking.Lock()
		defer taking.Unlock()
		if ctx.Err() == nil && len(line) > 0 {
			f.take(ctx, c, line, w, &calls)
		}
		return context.Cause(ctx)
	}
	ended := make(chan error, 1)
	go func() { ended <- f.readLines(in, w, take) }()
	select {
	case err := <-ended:
		if err == nil {
			f.awaitAnswers(ctx, c, w)
		}
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-w.Broken():
		return w.Err()
	}
}

// lastWait bounds the wait for answers after a client has closed its side.
const lastWait = time.Second

// awaitAnswers waits until the requests of a client that has closed its side are
// answered: a client that reads its messages from a file closes its side at once.
func (f *Front) awaitAnswers(ctx context.Context, c *session.Client, w *lines.Writer) {
	timer := time.NewTimer(lastWait)
	defer timer.Stop()
	select {
	case <-c.Requests.Drained():
	case <-timer.C:
	case <-ctx.Done():
	case <-w.Broken():
	}
}

// readLines passes each line to take, until the end or an error of take. If several lines
// are at hand, the messages that follow from them are written together.
func (f *Front) readLines(in io.Reader, w *lines.Writer, take func(line []byte) error) error {
	r := lines.NewReader(in, f.MaxRequest)
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
			release = f.cork(w)
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

// cork holds back the writes to the client and to all servers until release.
func (f *Front) cork(w *lines.Writer) (release func()) {
	w.Cork()
	releases := []func(){w.Uncork}
	for _, u := range f.Pool.Servers {
		releases = append(releases, u.Cork())
	}
	return func() {
		for _, release := range releases {
			release()
		}
	}
}

// take handles one message. The reader itself records requests under their id, so that a
// notifications/cancelled that follows finds them.
func (f *Front) take(ctx context.Context, c *session.Client, line []byte, w *lines.Writer, calls *sync.WaitGroup) {
	m, fault := wire.Parse(line, f.MaxRequest)
	switch {
	case fault != nil:
		if !fault.Silent {
			w.Reply(fault.Append(nil))
		}
	case m.Kind == wire.Response:
		c.ClientRequests.Response(m)
	case m.Kind == wire.Notification:
		f.Router.ClientNotification(c, m)
	default:
		f.request(ctx, c, m, w, calls)
	}
}

// request begins one request. A call is decided and sent on the reader's goroutine, since
// that never blocks; what may block runs on another.
func (f *Front) request(ctx context.Context, c *session.Client, m wire.Message, w *lines.Writer, calls *sync.WaitGroup) {
	meta, fault := wire.ParseMeta(m.Params)
	switch v := meta.ProtocolVersion; {
	case fault == nil && m.Method == "initialize":
		fault = wire.CheckHandshake(m)
	case fault == nil && rev.Of(meta).PerRequest && !mcp.IsValidProtocolVersion(v): // as over HTTP
		fault = spec.UnsupportedVersion(v)
	}
	q := session.Request{Client: c, Message: m, Meta: meta, Stream: w}
	if fault != nil {
		q.Answer(nil, fault)
		return
	}
	if spec.IsCall(m.Method) {
		if t, ok := f.Pipeline.Prepare(c, m, meta, w); ok {
			t.Spawn = f.spawner(ctx, t, calls)
			f.call(t)
		}
		return
	}
	serve := f.begin(ctx, q)
	switch {
	case serve == nil:
	case m.Method == "initialize": // what follows may depend on it
		serve()
	default:
		calls.Go(serve)
	}
}

// call serves a call on the reader.
func (f *Front) call(t *pipeline.Call) {
	if !t.Client.Requests.Begin(wire.IDKey(t.ID), t) {
		f.duplicateCall(t)
		return
	}
	defer f.Life.Recovered(t.Method, t.ID, t.Stream)
	f.Pipeline.Serve(t)
}

// spawner returns a function that runs what may block on a goroutine of its own, with a
// context that a cancellation of the call ends.
func (f *Front) spawner(ctx context.Context, t *pipeline.Call, calls *sync.WaitGroup) func(func()) {
	return func(run func()) {
		t.Bind(ctx)
		calls.Go(func() {
			defer f.Life.Recovered(t.Method, t.ID, t.Stream)
			run()
		})
	}
}
