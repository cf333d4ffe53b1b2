package streamable

import (
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/upstream/conn"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

const (
	maxResumes  = 100 // resumptions of one request's stream without an event between them
	usualResume = time.Second
	longResume  = time.Minute
)

// readStream reads the stream that answers x: notifications and requests that belong to it, then
// its reply. A server of 2025-11-25 can end the stream early, any number of times; the rest is then
// requested with GET, which executes nothing. If an inline caller of Send has to return, the Reply
// contains the remaining work.
func (c *Conn) readStream(x *conn.Exchange, s *conn.Session, events *EventReader, body io.ReadCloser) conn.Reply {
	for resumes, seen := 0, ""; ; resumes++ {
		err := c.follow(x, s, events)
		switch err {
		case errContinuesElsewhere:
			rest := body // body itself must not escape to the heap for this
			return conn.Reply{Rest: func() conn.Reply { return c.readStream(x, s, events, rest) }}
		case nil:
			c.drain(x, body)
			body.Close()
			return conn.Reply{} // already delivered
		case errUnknownSession:
			body.Close()
			return conn.Reply{Err: err}
		}
		body.Close()
		if events.lastID != seen {
			resumes, seen = 0, events.lastID
		}
		if err != io.EOF || seen == "" || s.Rev() == rev.Rev2026 || resumes == maxResumes {
			return c.broken(x, err)
		}
		if x.Req.Interrupted != nil {
			x.Req.Interrupted(events.retry)
		}
		if mustReturn(x) {
			return conn.Reply{Rest: func() conn.Reply { return c.readRest(x, s, events) }}
		}
		if body, err = c.resume(x, s, events); err != nil {
			return c.broken(x, err)
		}
	}
}

// readRest reads the rest of an interrupted stream.
func (c *Conn) readRest(x *conn.Exchange, s *conn.Session, events *EventReader) conn.Reply {
	body, err := c.resume(x, s, events)
	if err != nil {
		return c.broken(x, err)
	}
	return c.readStream(x, s, events, body)
}

func (c *Conn) broken(x *conn.Exchange, err error) conn.Reply {
	if err == io.EOF {
		err = errStreamEnd
	}
	return conn.Reply{Err: c.interrupted(x, err)}
}

// errContinuesElsewhere means that an inline caller has to return before the stream ends.
var errContinuesElsewhere = errors.New("left to another goroutine")

// mustReturn reports, once, that an inline caller of Send has to return.
func mustReturn(x *conn.Exchange) bool {
	if !x.Req.Here || !x.InlineStopped.Load() {
		return false
	}
	x.Req.Here = false
	return true
}

// follow handles events until the reply to x, and delivers the reply before the end of the stream,
// which can be late.
func (c *Conn) follow(x *conn.Exchange, s *conn.Session, events *EventReader) error {
	for {
		if mustReturn(x) {
			return errContinuesElsewhere
		}
		e, err := events.Next()
		if err != nil {
			return err
		}
		if len(e.Data) == 0 {
			continue
		}
		m, err := wire.ParseUpstream(e.Data)
		switch {
		case err != nil && conn.IsInvalidAnswer(e.Data, x.ID):
			return conn.ErrMalformed
		case err == nil && conn.AnswerTo(m, x.ID) && c.dropped(x, s, m.Error):
			return errUnknownSession
		case err == nil && conn.AnswerTo(m, x.ID):
			x.Deliver(conn.ReplyOf(m, true))
			return nil
		case err == nil && m.Kind == wire.Notification && m.Method != conn.MethodCancelled && c.owner(x, m).Notify(m.Method, m.Params):
		default:
			c.take(x, s, m, err)
		}
	}
}

// owner returns the request that a notification on the stream of x belongs to. Some servers mix up
// the streams of one session, so a progress token takes precedence.
func (c *Conn) owner(x *conn.Exchange, m wire.Message) *conn.Exchange {
	if m.Method == "notifications/progress" {
		if named := c.Pending.Progressing(m.Params); named != nil {
			return named
		}
	}
	return x
}

// take handles a message that is not an answer. x is the request of its stream; nil: no request.
func (c *Conn) take(x *conn.Exchange, s *conn.Session, m wire.Message, err error) {
	switch {
	case err != nil:
		c.Host.Log.Debug("malformed event from upstream", "error", err)
	case m.Kind == wire.Response:
		c.Host.Log.Debug("answer to no request dropped")
	case m.Kind == wire.Request:
		if s.Rev() == rev.Rev2026 || !c.Relay(x, m, func(answer []byte) { c.reply(s, answer) }) {
			c.refuse(s, m)
		}
	default:
		c.Notification(m)
	}
}

// resume requests the rest of a stream that the server ended.
func (c *Conn) resume(x *conn.Exchange, s *conn.Session, events *EventReader) (body io.ReadCloser, err error) {
	pause := usualResume
	if events.retry > 0 {
		pause = min(events.retry, longResume)
	}
	if !conn.Sleep(x.Ctx, pause) {
		return nil, x.Ctx.Err()
	}
	response, err := c.Get(x.Ctx, s, events.lastID)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK || MediaType(response.Header) != "text/event-stream" {
		response.Body.Close()
		return nil, errStreamEnd
	}
	events.restart(response.Body)
	return response.Body, nil
}

// drain reads the rest of a body for a moment, so that its connection can be reused.
func (c *Conn) drain(x *conn.Exchange, body io.Reader) {
	stop := time.AfterFunc(drainTime, x.Abort)
	defer stop.Stop()
	_, _ = io.CopyN(io.Discard, body, ExcerptLimit)
}
