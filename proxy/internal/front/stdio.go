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
	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// ServeStdio serves one client. It reads the client's messages from in, one per line. It writes
// only MCP messages to out. It returns when in ends, ctx is done, or a write to out fails. Before
// returning, it cancels all unanswered calls. It must be called only once per connection. If out
// supports write deadlines, ServeStdio sets one when ctx is done, so that a client that has stopped
// reading cannot block the shutdown.
func (f *Front) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	defer limitWrites(ctx, out)()
	w := lines.NewWriter(out)
	c, err := f.Sessions.Connect("stdio", "local", nil, w)
	if err != nil {
		return err
	}
	f.Sessions.Stdio.Store(w)
	ctx, cancel := context.WithCancelCause(ctx)
	r := &reader{Front: f, client: c, ctx: ctx, out: w}
	defer func() {
		f.Sessions.Stdio.CompareAndSwap(w, nil)
		cancel(spec.ErrGone)
		r.end()
		f.Router.DropClient(c)
		r.calls.Wait()
		w.Close()
	}()
	ended := make(chan error, 1)
	go func() { ended <- r.readLines(in) }()
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

// lastWait is the maximum time that the proxy waits for the remaining responses before it ends a
// client's connection. During a shutdown, a slow client has the same time to read the last
// messages.
const lastWait = time.Second

// limitWrites makes writes to out fail soon after ctx is done, if out supports write deadlines. The
// returned function cancels this if it is called before ctx is done.
func limitWrites(ctx context.Context, out io.Writer) (stop func() bool) {
	bounded, ok := out.(interface{ SetWriteDeadline(t time.Time) error })
	if !ok {
		return func() bool { return true }
	}
	return context.AfterFunc(ctx, func() { _ = bounded.SetWriteDeadline(time.Now().Add(lastWait)) })
}

// awaitAnswers waits, for a limited time, until all requests of the client have been answered. It
// is called when the client has closed its side of the connection. A client that reads its messages
// from a file closes its side immediately.
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

// A reader handles the messages of a stdio or HTTP+SSE client, one at a time. mu guards ended.
type reader struct {
	*Front
	client *session.Client
	ctx    context.Context //nolint:containedctx // done when the connection ends
	out    *lines.Writer
	calls  sync.WaitGroup
	uncork func() // sends the messages held back during a burst; nil if none are held back

	mu    sync.Mutex  // held while a message is handled
	ended bool        // whether the reader has stopped handling messages
	burst burst.Burst // combines the calls that were read together
}

// end stops the reader from handling further messages.
func (r *reader) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
}

// endBurst ends the burst, so that the calls that were read together continue.
func (r *reader) endBurst() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.burst.End()
}

// readLines handles the lines of in until the input or the connection ends. While more lines can be
// read without blocking, it holds back outgoing messages, so that several are written together.
func (r *reader) readLines(in io.Reader) error {
	input := lines.NewReader(in, r.MaxRequest)
	reading := burst.Reading{Begin: func() {
		r.uncork = r.cork(r.out)
		r.burst.Begin()
	}, End: func() {
		r.endBurst()
		r.releaseHeldBack()
	}}
	defer reading.Stop()
	for {
		line, err := input.Next()
		switch {
		case errors.Is(err, lines.ErrTooLong):
			text := fmt.Sprintf("the message is longer than %d bytes (listen.maxBody)", r.MaxRequest)
			r.out.Reply(wire.AppendError(nil, nil, wire.CodeInvalidRequest, text, nil))
			reading.After(input.More())
			continue
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
		more := input.More()
		reading.Before(more)
		if len(line) > 0 {
			r.take(line)
		}
		if r.ctx.Err() != nil {
			return context.Cause(r.ctx)
		}
		reading.After(more)
	}
}

// releaseHeldBack sends the messages held back. It is called when a burst ends, and before the
// reader waits.
func (r *reader) releaseHeldBack() {
	if r.uncork != nil {
		r.uncork()
		r.uncork = nil
	}
}

// cork holds back messages to the client and to all servers until release is called.
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

// take handles one message. If the message is a request, take registers its ID before returning, so
// that a later notifications/cancelled finds the request. If the message is not a call, take first
// handles the calls that the burst has held back. It returns false if the connection has ended.
func (r *reader) take(line []byte) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended || r.ctx.Err() != nil {
		return false
	}
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
		r.request(m)
	}
	return true
}

// request begins to serve a request. If the request is a call, the reader's goroutine decides on it
// and forwards it, and blocks only for commits to the store. Work that may block longer runs on
// another goroutine, except for initialize.
func (r *reader) request(m wire.Message) {
	meta, fault := wire.ParseMeta(m)
	switch v := meta.ProtocolVersion; {
	case fault == nil && m.Method == "initialize":
		fault = wire.CheckHandshake(m)
	case fault == nil && rev.Of(meta.ProtocolVersion).PerRequest && !mcp.IsValidProtocolVersion(v): // over HTTP, checkHeaders performs this check
		fault = spec.UnsupportedVersion(v)
	}
	q := session.Request{Client: r.client, Message: m, Meta: meta, Stream: r.out}
	if fault != nil {
		q.Answer(nil, fault)
		return
	}
	if spec.IsCall(m.Method) {
		r.call(m, meta)
		return
	}
	serve := r.begin(r.ctx, q)
	switch {
	case serve == nil:
	case m.Method == "initialize": // later messages may depend on this request
		r.releaseHeldBack() // the request may have to wait for responses to messages that are still held back
		serve()
	default:
		r.calls.Go(serve)
	}
}

// call begins to serve a call. Work that may block runs on a new goroutine, with a context that is
// canceled with the call.
func (r *reader) call(m wire.Message, meta wire.Meta) {
	t, ok := r.Pipeline.Prepare(r.client, m, meta, r.out)
	if !ok {
		return
	}
	t.Burst = &r.burst
	t.Spawn = func(run func()) {
		t.Burst = nil // from here, the call continues independently of the burst
		t.Bind(r.ctx)
		r.calls.Go(func() {
			defer r.Life.Recover(t.Method, t.ID, t.Stream)
			run()
		})
	}
	if !r.client.Requests.Begin(t.IDKey, t) {
		r.duplicateCall(t)
		return
	}
	defer r.Life.Recover(t.Method, t.ID, t.Stream)
	r.Pipeline.Serve(t)
}
