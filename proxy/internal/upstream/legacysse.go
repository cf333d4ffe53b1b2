package upstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// TransportSSE is the transport HTTP+SSE of revision 2024-11-05.
const TransportSSE = "sse"

var (
	errNoEndpoint    = errors.New("the server did not say where it takes messages")
	errOtherOrigin   = errors.New("the server wants messages sent to another origin, which is not done")
	errOtherEndpoint = errors.New("the server wants messages sent to another address than before")
	errSSEEnd        = errors.New("the server ended its stream")
)

// sseConn speaks to a server by HTTP+SSE: one stream carries all that the server
// says, and each message to it is a POST to an address that it names first. What
// is under way when the stream ends is lost; nothing is sent again.
type sseConn struct {
	host    *host
	get     *httpConn // makes requests to the address of the stream
	posts   *httpConn // and to that of messages
	pending *pending
	asked   inquiries
	body    io.ReadCloser
	stop    context.CancelFunc
	ctx     context.Context // ends with the connection
	reader  chan struct{}   // closed when the stream is read no more

	ending
}

// dialSSE opens the stream and waits until the server has named the address of
// messages.
func (u *host) dialSSE(ctx context.Context) (*sseConn, error) {
	get, err := u.dial(ctx)
	if err != nil {
		return nil, err
	}
	c := &sseConn{host: u, get: get, pending: newPending(), ending: newEnding(), reader: make(chan struct{})}
	c.ctx, c.stop = context.WithCancel(ctx)
	late := time.AfterFunc(u.options.ConnectTimeout, c.stop)
	defer late.Stop()
	events, err := c.open()
	if err != nil {
		if ctx.Err() == nil && c.ctx.Err() != nil {
			err = fmt.Errorf("%w within %v", errNoEndpoint, u.options.ConnectTimeout)
		}
		c.stop()
		return nil, err
	}
	if !late.Stop() { // it was too late already
		_ = c.body.Close()
		return nil, errNoEndpoint
	}
	go c.read(events)
	return c, nil
}

// open begins the stream.
func (c *sseConn) open() (*eventReader, error) {
	request, err := c.get.newRequest(c.ctx, http.MethodGet, new(session), nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "text/event-stream")
	response, err := c.get.do(request)
	if err != nil {
		return nil, c.get.transportError(err)
	}
	if t := mediaType(response.Header); response.StatusCode != http.StatusOK || t != "text/event-stream" {
		defer response.Body.Close()
		if response.StatusCode == http.StatusOK {
			return nil, fmt.Errorf("the server answered with content type %q", text.Excerpt(t, 100))
		}
		return nil, c.get.statusError(response)
	}
	events := newEventReader(response.Body, c.host.config.MaxMessage)
	if err := c.findEndpoint(events); err != nil {
		response.Body.Close()
		return nil, err
	}
	c.body = response.Body
	return events, nil
}

// findEndpoint reads the first event, which has to name the address.
func (c *sseConn) findEndpoint(events *eventReader) error {
	e, err := events.next()
	if err != nil || e.kind != "endpoint" {
		return errNoEndpoint
	}
	address, err := sameOrigin(c.get.url, strings.TrimSpace(string(e.data)))
	if err != nil {
		return err
	}
	c.posts = &httpConn{host: c.host, url: address, ctx: c.ctx}
	return nil
}

// sameOrigin is a reference as seen from base. Of another origin it would take
// our credentials to whoever the server names.
func sameOrigin(base, reference string) (string, error) {
	b, err := url.Parse(base)
	if err != nil {
		return "", errNoEndpoint
	}
	r, err := b.Parse(reference)
	if err != nil || reference == "" {
		return "", errNoEndpoint
	}
	if r.Scheme != b.Scheme || !strings.EqualFold(hostPort(r), hostPort(b)) || r.User != nil && r.User.String() != b.User.String() {
		return "", permanent{errOtherOrigin}
	}
	r.User, r.Fragment = b.User, ""
	return r.String(), nil
}

func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u.Hostname() + ":" + port
}

// read takes what the server says until its stream ends.
func (c *sseConn) read(events *eventReader) {
	defer close(c.reader)
	defer c.body.Close()
	for {
		e, err := events.next()
		switch {
		case errors.Is(err, errTooLong):
			c.fail(fmt.Errorf("%w: more than %d bytes", err, c.host.config.MaxMessage))
			return
		case err == io.EOF:
			c.fail(errSSEEnd)
			return
		case err != nil:
			c.fail(c.get.transportError(err))
			return
		case e.kind == "endpoint":
			if again, err := sameOrigin(c.get.url, strings.TrimSpace(string(e.data))); err != nil || again != c.posts.url {
				c.fail(errOtherEndpoint)
				return
			}
		case len(e.data) > 0 && (e.kind == "" || e.kind == "message"):
			c.take(e.data)
		}
	}
}

// take handles one message of the server.
func (c *sseConn) take(data []byte) {
	m, err := wire.ParseUpstream(data)
	switch {
	case err != nil:
		c.spoilt(data, err)
	case m.Kind == wire.Response:
		id, _ := m.Int()
		if x := c.pending.take(id); x != nil {
			x.deliver(replyOf(m, true))
		}
	case m.Kind == wire.Request:
		if !c.host.inquire(nil, &c.asked, m, c.say) {
			c.say(appendAnswer(nil, m))
		}
	case m.Method == methodCancelled:
		c.asked.cancelled(m.Params)
	default:
		c.host.route(c.pending, m.Method, m.Params)
	}
}

// spoilt takes an event that is no message: where it seems to be the answer to
// a request, nobody needs to wait for another.
func (c *sseConn) spoilt(data []byte, err error) {
	c.host.log.Debug("malformed event from upstream", "error", err)
	if id, ok := spoiltAnswer(data); ok {
		if x := c.pending.take(id); x != nil {
			x.deliver(Reply{Err: &Lost{Sent: true, Cause: errMalformed}})
		}
	}
}

func (c *sseConn) send(x *Exchange) {
	if !c.pending.add(x) || !c.host.work.begin() {
		c.pending.take(x.id)
		x.deliver(Reply{Err: notSent(c.cause())})
		return
	}
	body := wire.AppendRequestInt(make([]byte, 0, len(x.req.Params)+len(x.req.Method)+64), x.id, x.req.Method, x.req.Params)
	x.req.Params = nil
	go func() {
		defer c.host.work.done()
		if err := c.post(c.ctx, body); err != nil && c.pending.take(x.id) != nil {
			x.deliver(Reply{Err: err})
		}
	}()
}

// post sends one message. Its answer, if there is one, comes on the stream.
func (c *sseConn) post(ctx context.Context, data []byte) error {
	var sent atomic.Bool // there was a connection to write to
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { sent.Store(true) }})
	request, err := c.posts.newRequest(ctx, http.MethodPost, new(session), data)
	if err != nil {
		return notSent(err)
	}
	response, err := c.posts.do(request)
	switch {
	case err != nil && !sent.Load():
		return notSent(c.get.transportError(err))
	case err != nil && c.ctx.Err() != nil:
		return &Lost{Sent: true, Cause: errClosed}
	case err != nil:
		return &Lost{Sent: true, Cause: c.get.transportError(err)}
	}
	defer response.Body.Close()
	if response.StatusCode/100 != 2 {
		return c.posts.statusError(response)
	}
	_, _ = io.CopyN(io.Discard, response.Body, excerptLimit)
	return nil
}

// aside sends a message of which nobody learns whether it arrived.
func (c *sseConn) aside(data []byte) {
	if !c.host.work.begin() {
		return
	}
	go func() {
		defer c.host.work.done()
		ctx, cancel := context.WithTimeout(c.ctx, notifyTimeout)
		defer cancel()
		_ = c.post(ctx, data)
	}()
}

// say sends our answer to an inquiry.
func (c *sseConn) say(answer []byte) { c.aside(append([]byte(nil), answer...)) }

func (c *sseConn) cancel(x *Exchange, reason string) {
	if forgotten := c.pending.cancel(x); forgotten != nil {
		forgotten.deliver(Reply{Err: &Lost{Sent: true, Cause: errForgotten}})
	}
	c.aside(wire.AppendNotification(nil, methodCancelled, appendCancelled(nil, x.id, reason)))
}

func (c *sseConn) notify(ctx context.Context, _ *session, method string, params []byte) error {
	ctx, cancel := context.WithTimeout(ctx, notifyTimeout)
	defer cancel()
	defer context.AfterFunc(c.ctx, cancel)()
	return c.post(ctx, wire.AppendNotification(nil, method, params))
}

func (c *sseConn) agree(*session) {}

// retire ends the stream, which is the session. What is under way may have
// been executed.
func (c *sseConn) retire() {
	c.fail(errClosed)
	c.stop()
	<-c.reader
	c.asked.close()
	for _, x := range c.pending.close() {
		x.deliver(Reply{Err: &Lost{Sent: true, Cause: c.cause()}})
	}
}
