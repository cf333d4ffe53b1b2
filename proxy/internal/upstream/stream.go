package upstream

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/petrigate/petrigate/proxy/internal/wire"
)

const (
	maxResumes  = 100 // of one request's stream without an event between
	usualResume = time.Second
	longResume  = time.Minute
)

// readStream reads the stream that answers x: what belongs to it, then its
// reply. A legacy server may end the stream early and let it be taken up with
// another request, which asks for what is missing and executes nothing. Where
// the caller of Send is to be let go, the rest is left to do.
func (c *httpConn) readStream(x *Exchange, s *session, events *eventReader, body io.ReadCloser) Reply {
	err := c.follow(x, s, events)
	switch err {
	case errLeft:
		return Reply{rest: func() Reply { return c.readStream(x, s, events, body) }}
	case nil:
		c.drain(x, body)
		body.Close()
		return Reply{} // it was delivered
	}
	body.Close()
	if err == io.EOF && events.lastID != "" && !s.modern() {
		return c.interrupt(x, s, events)
	}
	return c.broken(x, err)
}

func (c *httpConn) broken(x *Exchange, err error) Reply {
	if err == io.EOF {
		err = errStreamEnd
	}
	return Reply{Err: c.interrupted(x, err)}
}

// interrupt says that the stream is interrupted, and takes it up again: here,
// or where the caller is let go elsewhere.
func (c *httpConn) interrupt(x *Exchange, s *session, events *eventReader) Reply {
	if x.req.Interrupted != nil {
		x.req.Interrupted(events.retry)
	}
	if x.leaves() {
		return Reply{rest: func() Reply { return c.takeUp(x, s, events) }}
	}
	return c.takeUp(x, s, events)
}

// takeUp reads the rest of a stream that was interrupted, however often.
func (c *httpConn) takeUp(x *Exchange, s *session, events *eventReader) Reply {
	for resumes := 0; resumes < maxResumes; resumes++ {
		before := events.lastID
		body, err := c.resume(x, s, events)
		if err != nil {
			return c.broken(x, err)
		}
		switch err = c.follow(x, s, events); err {
		case nil:
			c.drain(x, body)
			body.Close()
			return Reply{} // it was delivered
		case errLeft:
			return Reply{rest: func() Reply { return c.readStream(x, s, events, body) }}
		}
		body.Close()
		if err != io.EOF {
			return c.broken(x, err)
		}
		if x.req.Interrupted != nil {
			x.req.Interrupted(events.retry)
		}
		if events.lastID != before {
			resumes = 0
		}
	}
	return c.broken(x, io.EOF)
}

// errLeft ends the reading of a stream whose reader is to be let go.
var errLeft = errors.New("left to another goroutine")

// leaves reports, once, that the caller of Send waits and is to be let go.
func (x *Exchange) leaves() bool {
	if !x.req.Here || !x.left.Load() {
		return false
	}
	x.req.Here = false
	return true
}

// follow takes events until the reply to x, and delivers it before the end of
// the stream, which may be late.
func (c *httpConn) follow(x *Exchange, s *session, events *eventReader) error {
	for {
		if x.leaves() {
			return errLeft
		}
		e, err := events.next()
		if err != nil {
			return err
		}
		if len(e.data) == 0 {
			continue
		}
		m, err := wire.ParseUpstream(e.data)
		switch {
		case err != nil && spoils(e.data, x.id):
			return errMalformed
		case err == nil && answerTo(m, x.id):
			x.deliver(replyOf(m, true))
			return nil
		case err == nil && m.Kind == wire.Notification && m.Method != methodCancelled && c.owner(x, m).notify(m.Method, m.Params):
		default:
			c.take(x, s, m, err)
		}
	}
}

// owner is the request that a notification on the stream of x belongs to.
// Some servers mix up the streams of one session, so a token tells better.
func (c *httpConn) owner(x *Exchange, m wire.Message) *Exchange {
	if m.Method == "notifications/progress" {
		if named := c.pending.progressing(m.Params); named != nil {
			return named
		}
	}
	return x
}

// take handles what is no answer. x is the request on whose stream it came;
// nil: none.
func (c *httpConn) take(x *Exchange, s *session, m wire.Message, err error) {
	switch {
	case err != nil:
		c.host.log.Debug("malformed event from upstream", "error", err)
	case m.Kind == wire.Response:
		c.host.log.Debug("answer to no request dropped")
	case m.Kind == wire.Request:
		if s.modern() || !c.host.inquire(x, &c.asked, m, func(answer []byte) { c.reply(s, answer) }) {
			c.answer(s, m)
		}
	case m.Method == methodCancelled:
		c.asked.cancelled(m.Params)
	default:
		c.host.route(c.pending, m.Method, m.Params)
	}
}

// resume asks for the rest of a stream that the server ended.
func (c *httpConn) resume(x *Exchange, s *session, events *eventReader) (body io.ReadCloser, err error) {
	pause := usualResume
	if events.retry > 0 {
		pause = min(events.retry, longResume)
	}
	if !sleep(x.ctx, pause) {
		return nil, x.ctx.Err()
	}
	response, err := c.get(x.ctx, s, events.lastID)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK || mediaType(response.Header) != "text/event-stream" {
		response.Body.Close()
		return nil, errStreamEnd
	}
	events.restart(response.Body)
	return response.Body, nil
}

func (c *httpConn) get(ctx context.Context, s *session, lastID string) (*http.Response, error) {
	request, err := c.newRequest(ctx, http.MethodGet, s, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "text/event-stream")
	if lastID != "" {
		request.Header.Set("Last-Event-ID", lastID)
	}
	return c.do(request)
}

// drain reads the rest of a body for a moment, so that its connection can be
// used again.
func (c *httpConn) drain(x *Exchange, body io.Reader) {
	stop := time.AfterFunc(drainTime, x.abort)
	defer stop.Stop()
	_, _ = io.CopyN(io.Discard, body, excerptLimit)
}

// reply sends our answer to an inquiry.
func (c *httpConn) reply(s *session, answer []byte) {
	if !c.host.work.begin() {
		return
	}
	go func() {
		defer c.host.work.done()
		if err := c.push(c.ctx, s, "", answer); err != nil {
			c.host.log.Warn("answering a request of the server", "error", err)
		}
	}()
}

// answer answers a request that a legacy server sent on a stream.
func (c *httpConn) answer(s *session, m wire.Message) {
	if !c.host.work.begin() {
		return
	}
	select {
	case c.answers <- struct{}{}:
	default: // it asks faster than it listens
		c.host.work.done()
		return
	}
	data := appendAnswer(nil, m)
	go func() {
		defer c.host.work.done()
		defer func() { <-c.answers }()
		_ = c.push(c.ctx, s, "", data)
	}()
}

// sleep waits for d, or returns false when ctx ends before.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
