package upstream

import (
	"context"
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
// another request, which asks for what is missing and executes nothing.
func (c *httpConn) readStream(x *Exchange, s *session, body io.ReadCloser) Reply {
	events := newEventReader(body, c.upstream.config.MaxMessage)
	err := c.follow(x, s, events)
	for resumes := 0; err == io.EOF && events.lastID != "" && !s.modern() && resumes < maxResumes; resumes++ {
		before := events.lastID
		err = c.resume(x, s, events)
		if events.lastID != before {
			resumes = 0
		}
	}
	if err == nil {
		c.drain(x, body)
		return Reply{} // it was delivered
	}
	if err == io.EOF {
		err = errStreamEnd
	}
	return Reply{Err: c.interrupted(x, err)}
}

// follow takes events until the reply to x, and delivers it before the end of
// the stream, which may be late.
func (c *httpConn) follow(x *Exchange, s *session, events *eventReader) error {
	for {
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
		case err == nil && m.Kind == wire.Notification && c.owner(x, m).notify(m.Method, m.Params):
		default:
			c.take(s, m, err)
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

// take handles what belongs to no request.
func (c *httpConn) take(s *session, m wire.Message, err error) {
	switch {
	case err != nil:
		c.upstream.log.Debug("malformed event from upstream", "error", err)
	case m.Kind == wire.Response:
		c.upstream.log.Debug("answer to no request dropped")
	case m.Kind == wire.Request:
		c.answer(s, m)
	default:
		c.upstream.route(c.pending, m.Method, m.Params)
	}
}

// resume asks for the rest of a stream that the server ended, and follows it.
func (c *httpConn) resume(x *Exchange, s *session, events *eventReader) error {
	pause := usualResume
	if events.retry > 0 {
		pause = min(events.retry, longResume)
	}
	if !sleep(x.ctx, pause) {
		return x.ctx.Err()
	}
	response, err := c.get(x.ctx, s, events.lastID)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK || mediaType(response.Header) != "text/event-stream" {
		return errStreamEnd
	}
	events.restart(response.Body)
	return c.follow(x, s, events)
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
	return c.upstream.client.Do(request)
}

// drain reads the rest of a body for a moment, so that its connection can be
// used again.
func (c *httpConn) drain(x *Exchange, body io.Reader) {
	stop := time.AfterFunc(drainTime, x.abort)
	defer stop.Stop()
	_, _ = io.CopyN(io.Discard, body, excerptLimit)
}

// answer answers a request that a legacy server sent on a stream.
func (c *httpConn) answer(s *session, m wire.Message) {
	if !c.upstream.begin() {
		return
	}
	select {
	case c.answers <- struct{}{}:
	default: // it asks faster than it listens
		c.upstream.work.Done()
		return
	}
	data := appendAnswer(nil, m)
	go func() {
		defer c.upstream.work.Done()
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
