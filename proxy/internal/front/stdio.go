package front

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/petrigate/petrigate/proxy/internal/burst"
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
// cancelled. It is called once for a connection. Where out takes a deadline, it gets one when ctx
// ends: a client that does not read holds nobody up then.
func (f *Front) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	defer boundWrites(ctx, out)()
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
	r := &reader{Front: f, client: c, out: w, calls: &calls}
	take := func(line []byte) error {
		taking.Lock()
		defer taking.Unlock()
		if ctx.Err() == nil && len(line) > 0 {
			r.take(ctx, line)
		}
		return context.Cause(ctx)
	}
	taken := func() {
		taking.Lock()
		defer taking.Unlock()
		r.burst.End()
	}
	ended := make(chan error, 1)
	go func() { ended <- r.readLines(in, take, taken) }()
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

// lastWait bounds the wait for answers after a client has closed its side, and for a client to
// read what is written to it when all ends.
const lastWait = time.Second

// boundWrites has writes to out fail soon after the end of ctx, until stop.
func boundWrites(ctx context.Context, out io.Writer) (stop func() bool) {
	bounded, ok := out.(interface{ SetWriteDeadline(t time.Time) error })
	if !ok {
		return func() bool { return true }
	}
	return context.AfterFunc(ctx, func() { _ = bounded.SetWriteDeadline(time.Now().Add(lastWait)) })
}

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

// A reader reads the messages of a client.
type reader struct {
	*Front
	client *session.Client
	out    *lines.Writer
	calls  *sync.WaitGroup
	burst  burst.Burst // of calls that are at hand

	uncork func() // lets go what is held back for the sake of a burst; nil: nothing is
}

// readLines passes each line to take, until the end or an error of take. If several lines
// are at hand, taken is called behind the last one, and the messages that follow from them
// are written together.
func (r *reader) readLines(in io.Reader, take func(line []byte) error, taken func()) error {
	input := lines.NewReader(in, r.MaxRequest)
	reading := burst.Reading{Begin: func() {
		r.uncork = r.cork(r.out)
		r.burst.Begin()
	}, End: func() {
		taken()
		r.letGo()
	}}
	defer reading.Stop()
	for {
		line, err := input.Next()
		switch {
		case errors.Is(err, lines.ErrTooLong):
			text := fmt.Sprintf("the message is longer than the %d bytes that this proxy takes (listen.maxBody)", r.MaxRequest)
			r.out.Reply(wire.AppendError(nil, nil, spec.CodeInvalidRequest, text, nil))
			reading.After(input.More())
			continue
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
		more := input.More()
		reading.Before(more)
		if err := take(line); err != nil {
			return err
		}
		reading.After(more)
	}
}

// letGo writes what is held back, before the end of a burst or before the reader waits.
func (r *reader) letGo() {
	if r.uncork != nil {
		r.uncork()
		r.uncork = nil
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
// notifications/cancelled that follows finds them. What is no call waits for the calls
// before it.
func (r *reader) take(ctx context.Context, line []byte) {
	m, fault := wire.Parse(line, r.MaxRequest)
	if fault != nil || m.Kind != wire.Request || !spec.IsCall(m.Method) {
		r.burst.Flush()
	}
	switch {
	case fault != nil:
		if !fault.Silent {
			r.out.Reply(fault.Append(nil))
		}
	case m.Kind == wire.Response:
		r.client.ClientRequests.Response(m)
	case m.Kind == wire.Notification:
		r.Router.ClientNotification(r.client, m)
	default:
		r.request(ctx, m)
	}
}

// request begins one request. A call is decided and sent on the reader's goroutine, since
// that never blocks; what may block runs on another.
func (r *reader) request(ctx context.Context, m wire.Message) {
	meta, fault := wire.ParseMeta(m.Params)
	switch v := meta.ProtocolVersion; {
	case fault == nil && m.Method == "initialize":
		fault = wire.CheckHandshake(m)
	case fault == nil && rev.Of(meta).PerRequest && !mcp.IsValidProtocolVersion(v): // as over HTTP
		fault = spec.UnsupportedVersion(v)
	}
	q := session.Request{Client: r.client, Message: m, Meta: meta, Stream: r.out}
	if fault != nil {
		q.Answer(nil, fault)
		return
	}
	if spec.IsCall(m.Method) {
		if t, ok := r.Pipeline.Prepare(r.client, m, meta, r.out); ok {
			t.Spawn, t.Burst = r.spawner(ctx, t), &r.burst
			r.call(t)
		}
		return
	}
	serve := r.begin(ctx, q)
	switch {
	case serve == nil:
	case m.Method == "initialize": // what follows may depend on it
		r.letGo() // it may wait for what servers answer, to others too
		serve()
	default:
		r.calls.Go(serve)
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
func (r *reader) spawner(ctx context.Context, t *pipeline.Call) func(func()) {
	return func(run func()) {
		t.Burst = nil // it is on its own from now on
		t.Bind(ctx)
		r.calls.Go(func() {
			defer r.Life.Recovered(t.Method, t.ID, t.Stream)
			run()
		})
	}
}
