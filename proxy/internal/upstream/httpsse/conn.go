// Package httpsse implements the HTTP+SSE transport (revision 2024-11-05) for connections to MCP
// servers.
package httpsse

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"time"

	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy/internal/upstream/conn"
	"github.com/petrigate/petrigate/proxy/internal/upstream/process"
	"github.com/petrigate/petrigate/proxy/internal/upstream/streamable"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

var (
	ErrNoEndpoint    = errors.New("the server did not send its endpoint for messages")
	ErrOtherOrigin   = errors.New("the server's endpoint for messages has a different origin, which petrigate does not follow")
	errOtherEndpoint = errors.New("the server's endpoint for messages has changed")
	errSSEEnd        = errors.New("the server ended its stream")
)

// A Conn is an HTTP+SSE connection. All messages from the server arrive on one stream. The stream
// begins with the address that messages to the server must be posted to. If the stream ends,
// in-flight requests are lost and are not sent again.
type Conn struct {
	conn.Dispatcher
	http   *streamable.Conn // makes HTTP requests: first to the stream's address, later to the address for messages
	stream string           // address of the stream
	body   io.ReadCloser
	ctx    context.Context //nolint:containedctx // done when the connection ends
	stop   context.CancelFunc
	reader chan struct{} // closed when the reading goroutine returns
}

// Dial opens the stream and waits until the server has announced the address for messages.
func Dial(ctx context.Context, u *conn.Host) (*Conn, error) {
	requests, err := streamable.Dial(ctx, u)
	if err != nil {
		return nil, err
	}
	c := &Conn{Dispatcher: conn.NewDispatcher(u), http: requests, reader: make(chan struct{})}
	c.Relays, c.Answer = func() bool { return true }, c.sendInBackground
	c.ctx, c.stop = context.WithCancel(ctx)
	late := time.AfterFunc(u.Options.ConnectTimeout, c.stop)
	defer late.Stop()
	events, err := c.open()
	if err != nil {
		if ctx.Err() == nil && c.ctx.Err() != nil {
			err = fmt.Errorf("%w within %v", ErrNoEndpoint, u.Options.ConnectTimeout)
		}
		c.stop()
		return nil, err
	}
	if !late.Stop() { // the wait for the announcement has timed out
		_ = c.body.Close()
		return nil, ErrNoEndpoint
	}
	go c.read(events)
	return c, nil
}

// open opens the event stream and reads the address for messages from it.
func (c *Conn) open() (*streamable.EventReader, error) {
	response, err := c.http.FollowGet(c.ctx)
	if err != nil {
		return nil, c.http.TransportError(err)
	}
	if t := streamable.MediaType(response.Header); response.StatusCode != http.StatusOK || t != "text/event-stream" {
		defer response.Body.Close()
		if response.StatusCode == http.StatusOK {
			return nil, fmt.Errorf("the server responded with content type %q", text.Excerpt(t, 100))
		}
		return nil, c.http.StatusError(response)
	}
	events := streamable.NewEventReader(response.Body, c.Host.Config.MaxMessage)
	if err := c.findEndpoint(events); err != nil {
		response.Body.Close()
		return nil, err
	}
	c.body = response.Body
	return events, nil
}

// findEndpoint reads the first event, which must announce the address for messages.
func (c *Conn) findEndpoint(events *streamable.EventReader) error {
	e, err := events.Next()
	if err != nil || e.Kind != "endpoint" {
		return ErrNoEndpoint
	}
	c.stream = c.http.Address()
	address, err := c.endpoint(e.Data)
	if err == nil {
		c.http.MoveTo(address)
	}
	return err
}

// endpoint returns the address that the server has announced for messages. A relative address is
// resolved against the address of the stream. endpoint returns an error if the announced address is
// invalid or has a different origin than the stream.
func (c *Conn) endpoint(reference []byte) (string, error) {
	address, err := streamable.SameOrigin(c.stream, strings.TrimSpace(string(reference)))
	switch {
	case errors.Is(err, streamable.ErrOtherOrigin):
		return "", conn.Permanently(ErrOtherOrigin)
	case err != nil:
		return "", ErrNoEndpoint
	}
	return address, nil
}

// read handles messages from the server until the stream ends.
func (c *Conn) read(events *streamable.EventReader) {
	defer close(c.reader)
	defer c.body.Close()
	for {
		e, err := events.Next()
		switch {
		case errors.Is(err, process.ErrTooLong):
			c.Fail(fmt.Errorf("%w: more than %d bytes", err, c.Host.Config.MaxMessage))
			return
		case err == io.EOF:
			c.Fail(errSSEEnd)
			return
		case err != nil:
			c.Fail(c.http.TransportError(err))
			return
		case e.Kind == "endpoint":
			if again, err := c.endpoint(e.Data); err != nil || again != c.http.Address() {
				c.Fail(errOtherEndpoint)
				return
			}
		case len(e.Data) > 0 && (e.Kind == "" || e.Kind == "message"):
			if err := c.Dispatch(e.Data, true); err != nil {
				c.Host.Log.Debug("malformed event from upstream", "error", err)
			}
		}
	}
}

func (c *Conn) Send(x *conn.Exchange) {
	body := wire.AppendRequestInt(make([]byte, 0, len(x.Req.Params)+len(x.Req.Method)+64), x.ID, x.Req.Method, x.Req.Params)
	x.Req.Params = nil
	if c.Pending.Add(x) > 0 && c.Host.Work.Go(func() {
		if err := c.post(c.ctx, body, x.Req.Again); err != nil && c.Pending.Take(x.ID) != nil {
			x.Deliver(conn.Reply{Err: err})
		}
	}) {
		return
	}
	c.Pending.Take(x.ID)
	x.Deliver(conn.Reply{Err: conn.NotSent(c.Cause())})
}

// post posts a message. The response, if any, arrives on the stream. If the server refuses the
// credentials, post can send the message again with new ones, unless checkResend returns an error.
func (c *Conn) post(ctx context.Context, data []byte, checkResend func() error) error {
	var sent atomic.Bool // whether any byte of the message may have been sent
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { sent.Store(true) }})
	request, err := c.http.NewRequest(ctx, http.MethodPost, new(conn.Session), data)
	if err != nil {
		return conn.NotSent(err)
	}
	response, err := c.http.Do(request, checkResend)
	switch {
	case errors.Is(err, conn.ErrNotSent):
		return err
	case err != nil && !sent.Load():
		return conn.NotSent(c.http.TransportError(err))
	case err != nil && c.ctx.Err() != nil:
		return &conn.Lost{Sent: true, Cause: process.ErrClosed}
	case err != nil:
		return &conn.Lost{Sent: true, Cause: c.http.TransportError(err)}
	}
	defer response.Body.Close()
	if response.StatusCode/100 != 2 {
		return c.http.StatusError(response)
	}
	_, _ = io.CopyN(io.Discard, response.Body, streamable.ExcerptLimit)
	return nil
}

// sendInBackground sends a message in the background and ignores errors.
func (c *Conn) sendInBackground(data []byte) {
	c.Host.Work.Go(func() { _ = c.push(c.ctx, data) })
}

// push posts a message that has no response.
func (c *Conn) push(ctx context.Context, data []byte) error {
	ctx, cancel := context.WithTimeout(ctx, streamable.NotifyTimeout)
	defer cancel()
	return c.post(ctx, data, nil)
}

func (c *Conn) Cancel(x *conn.Exchange, reason string) {
	c.Cancelled(x)
	c.sendInBackground(wire.AppendNotification(nil, conn.MethodCancelled, conn.CancelledParams(x.ID, reason)))
}

func (c *Conn) Notify(ctx context.Context, _ *conn.Session, method string, params []byte) error {
	ctx, cancel := context.WithCancel(ctx)
	defer context.AfterFunc(c.ctx, cancel)()
	return c.push(ctx, wire.AppendNotification(nil, method, params))
}

func (c *Conn) Agree(*conn.Session) {}

// Retire ends the stream, which also ends the session. In-flight requests may have been executed.
func (c *Conn) Retire() {
	c.Fail(process.ErrClosed)
	c.stop()
	<-c.reader
	c.Lose(func(*conn.Exchange) *conn.Lost { return &conn.Lost{Sent: true, Cause: c.Cause()} })
}
