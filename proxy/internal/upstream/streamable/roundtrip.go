package streamable

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/upstream/conn"
	"github.com/petrigate/petrigate/proxy/internal/upstream/process"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

func (c *Conn) Send(x *conn.Exchange) {
	if c.Pending.Add(x) == 0 || !c.Host.Work.Begin() {
		c.Pending.Take(x.ID)
		x.Abort()
		x.Deliver(conn.Reply{Err: conn.NotSent(process.ErrClosed)})
		return
	}
	x.Body.Fill(wire.AppendRequestInt(make([]byte, 0, len(x.Req.Params)+len(x.Req.Method)+64), x.ID, x.Req.Method, x.Req.Params))
	if x.Req.Mirrored != nil {
		x.Req.Headers = mcp.GenerateParamHeaders(x.Req.Mirrored, x.Req.Params)
	}
	x.Req.Params = nil
	if x.Req.Here {
		c.perform(x)
	} else {
		go c.perform(x)
	}
}

// perform makes the HTTP request for x and delivers the reply.
func (c *Conn) perform(x *conn.Exchange) {
	reply := c.roundTrip(x)
	if reply.Rest != nil {
		go func() { c.conclude(x, reply.Rest()) }()
		return
	}
	c.conclude(x, reply)
}

func (c *Conn) conclude(x *conn.Exchange, reply conn.Reply) {
	defer c.Host.Work.Done()
	defer x.Abort()
	c.Pending.Take(x.ID)
	x.Deliver(reply)
}

// Cancel cancels the request of x. It sends notifications/cancelled to the server or, in revision
// 2026-07-28, closes the response stream.
func (c *Conn) Cancel(x *conn.Exchange, reason string) {
	if s := c.Current.Load(); s == nil || s.Rev() == rev.Rev2026 {
		x.Abort()
		return
	}
	if !c.Host.Work.Go(func() {
		// Do not use the context of x, because it is canceled when the reply arrives, possibly
		// before this notification has been sent.
		_ = c.Notify(c.ctx, nil, conn.MethodCancelled, conn.CancelledParams(x.ID, reason))
	}) {
		return
	}
	x.Body.Forget()
	stop := time.AfterFunc(cancelledGrace, x.Abort)
	context.AfterFunc(x.Ctx, func() { stop.Stop() })
}

// Retire ends the connection and all open requests from the server. It also ends the session,
// unless the connection had already ended or has no session. In-flight requests to the server
// continue, unless the upstream is being closed.
func (c *Conn) Retire() {
	lost := c.Cause() != nil
	c.Fail(process.ErrClosed)
	c.Asked.Close()
	if s := c.Current.Load(); s != nil && s.ID != "" && !lost {
		c.endSession(s)
	}
}

// endSession tells the server that the session has ended. The server may ignore this message.
func (c *Conn) endSession(s *conn.Session) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.ctx), time.Second)
	defer cancel()
	if request, err := c.NewRequest(ctx, http.MethodDelete, s, nil); err == nil {
		if response, err := c.Do(request, nil); err == nil {
			response.Body.Close()
		}
	}
}

// roundTrip sends the request of x and waits for the reply. If the server no longer knows the
// session and therefore has not executed the request, roundTrip sends it again in a new session.
func (c *Conn) roundTrip(x *conn.Exchange) conn.Reply {
	if x.Req.Session != nil { // the request is part of a handshake
		return c.handshake(x)
	}
	s := c.Current.Load()
	if s == nil {
		return conn.Reply{Err: conn.NotSent(process.ErrClosed)}
	}
	return c.inNewSession(x, s, c.sendOnce(x, s))
}

// inNewSession returns reply, unless it means that the server no longer knows the session s. In
// that case, inNewSession sends x again in a new session and returns the new reply.
func (c *Conn) inNewSession(x *conn.Exchange, s *conn.Session, reply conn.Reply) conn.Reply {
	if rest := reply.Rest; rest != nil {
		return conn.Reply{Rest: func() conn.Reply { return c.inNewSession(x, s, rest()) }}
	}
	if reply.Err != errUnknownSession { //nolint:errorlint // this error is never wrapped
		return reply
	}
	if err := c.renew(x.Ctx, s); err != nil {
		return conn.Reply{Err: conn.NotSent(fmt.Errorf("opening a new session: %w", err))}
	}
	if x.Req.Again != nil {
		if err := x.Req.Again(); err != nil {
			return conn.Reply{Err: conn.NotSent(err)}
		}
	}
	x.Renewed = true
	return c.sendOnce(x, c.Current.Load())
}

// sendOnce sends x in the session s. If the server does not execute the request because it no
// longer knows the session, the reply contains errUnknownSession.
func (c *Conn) sendOnce(x *conn.Exchange, s *conn.Session) conn.Reply {
	var sent atomic.Bool // whether any bytes of the request may have been sent
	ctx := httptrace.WithClientTrace(x.Ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { sent.Store(true) }})
	response, err := c.post(ctx, s, &x.Req, &x.Body)
	if err != nil {
		return conn.Reply{Err: c.lostError(x, err, sent.Load())}
	}
	if x.Req.Session != nil && x.Req.Method == "initialize" && response.StatusCode/100 == 2 {
		s.ID = response.Header.Get(sessionHeader)
	}
	if response.StatusCode/100 == 2 && response.StatusCode != http.StatusAccepted && MediaType(response.Header) == "text/event-stream" {
		return responseStream{c, x, s, NewEventReader(response.Body, c.Host.Config.MaxMessage)}.read(response.Body)
	}
	defer response.Body.Close()
	switch {
	case response.StatusCode/100 != 2:
		return c.parseRefusal(x, s, response)
	case response.StatusCode == http.StatusAccepted || response.StatusCode == http.StatusNoContent:
		return conn.Reply{Err: &conn.Lost{Sent: true, Cause: errNoAnswer}}
	}
	if t := MediaType(response.Header); t != "application/json" {
		err := fmt.Errorf("the server responded with content type %q", text.Excerpt(t, 100))
		return conn.Reply{Err: &conn.Lost{Sent: true, Cause: err}}
	}
	return c.readJSON(x, s, response)
}

// readJSON reads a response that consists of a single message.
func (c *Conn) readJSON(x *conn.Exchange, s *conn.Session, response *http.Response) conn.Reply {
	data, err := c.readAll(response)
	if err != nil {
		_, cause := c.cause(x, err)
		return conn.Reply{Err: &conn.Lost{Sent: true, Cause: cause}}
	}
	m, err := wire.ParseUpstream(data)
	if err != nil || !conn.AnswerTo(m, x.ID) {
		return conn.Reply{Err: &conn.Lost{Sent: true, Cause: conn.ErrMalformed}}
	}
	if c.dropped(x, s, m.Error) {
		return conn.Reply{Err: errUnknownSession}
	}
	return conn.ReplyOf(m, true)
}

// maxTrusted is the maximum size, in bytes, of a buffer that is allocated only because of a
// Content-Length header, before the body has been read.
const maxTrusted = 4 << 20

func (c *Conn) readAll(response *http.Response) ([]byte, error) {
	limit := int64(c.Host.Config.MaxMessage)
	if n := response.ContentLength; n >= 0 && n <= min(limit, maxTrusted) {
		data := make([]byte, n)
		_, err := io.ReadFull(response.Body, data)
		return data, err
	}
	data, err := io.ReadAll(io.LimitReader(response.Body, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("%w: more than %d bytes", process.ErrTooLong, limit)
	}
	return data, err
}

// parseRefusal parses a response with an error status. The reply contains the server's JSON-RPC
// error or, if the response has none, an error about the status. If the response means that the
// session is unknown, the reply contains errUnknownSession instead.
func (c *Conn) parseRefusal(x *conn.Exchange, s *conn.Session, response *http.Response) conn.Reply {
	limit := ExcerptLimit
	if MediaType(response.Header) == "application/json" { // the error may be forwarded to the client, so it must be read completely
		limit = c.Host.Config.MaxMessage
	}
	data, _ := io.ReadAll(io.LimitReader(response.Body, int64(limit)))
	if droppedByStatus(x, s, response.StatusCode, data) {
		return conn.Reply{Err: errUnknownSession}
	}
	refusal, ok := refusalIn(data, x.ID)
	if !ok {
		return conn.Reply{Err: c.status(response, data)}
	}
	return conn.Reply{Error: refusal}
}

// refusalIn returns the JSON-RPC error in the body of a refusal. The error must have the request's
// ID, or a null or missing ID if the server refused the request before reading it.
func refusalIn(data []byte, id int64) ([]byte, bool) {
	wire.OneLine(data, '\t')
	if !utf8.Valid(data) || !json.Valid(data) {
		return nil, false
	}
	got, ok := rawjson.Member(data, "id")
	if ok && string(got) != "null" && string(got) != strconv.FormatInt(id, 10) {
		return nil, false
	}
	refusal, ok := rawjson.Member(data, "error")
	refusal = wire.UpstreamError(refusal)
	return refusal, ok && rawjson.Kind(refusal) == '{'
}

// handshake sends a request of the handshake. The server may redirect it to another path on the
// same origin; for example, many servers redirect /mcp to /mcp/. This request and all later ones on
// the connection then use the new path. Redirects of calls are not followed.
func (c *Conn) handshake(x *conn.Exchange) conn.Reply {
	for range maxRedirects {
		reply := c.sendOnce(x, x.Req.Session)
		if !c.followRedirect(reply.Err) {
			return reply
		}
	}
	return c.sendOnce(x, x.Req.Session)
}
