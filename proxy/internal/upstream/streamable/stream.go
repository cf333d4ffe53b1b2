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
	maxResumes  = 100 // maximum number of times that the stream of one request is resumed without receiving an event
	usualResume = time.Second
	longResume  = time.Minute
)

// A responseStream is an event stream. It either answers an exchange or does not belong to one.
type responseStream struct {
	*Conn
	x      *conn.Exchange // exchange that the stream answers; nil: none
	s      *conn.Session
	events *EventReader
}

// read reads the stream that answers x: first notifications and requests that belong to x, and then
// the reply. A server that uses revision 2025-11-25 may end the stream early, any number of times.
// The proxy then requests the rest with GET, which does not execute anything. If an inline caller
// of Send must return, the returned Reply contains the remaining work.
func (r responseStream) read(body io.ReadCloser) conn.Reply {
	for resumes, seen := 0, ""; ; resumes++ {
		err := r.follow()
		switch err {
		case errContinuesElsewhere:
			rest := body // this copy keeps body from escaping to the heap
			return conn.Reply{Rest: func() conn.Reply { return r.read(rest) }}
		case nil:
			r.drain(body)
			body.Close()
			return conn.Reply{} // the reply has already been delivered
		case errUnknownSession:
			body.Close()
			return conn.Reply{Err: err}
		}
		body.Close()
		if r.events.lastID != seen {
			resumes, seen = 0, r.events.lastID
		}
		if err != io.EOF || seen == "" || r.s.Rev() == rev.Rev2026 || resumes == maxResumes {
			return r.broken(err)
		}
		if r.x.Req.Interrupted != nil {
			r.x.Req.Interrupted(r.events.retry)
		}
		if mustReturn(r.x) {
			return conn.Reply{Rest: r.readRest}
		}
		if body, err = r.resume(); err != nil {
			return r.broken(err)
		}
	}
}

// readRest reads the rest of an interrupted stream.
func (r responseStream) readRest() conn.Reply {
	body, err := r.resume()
	if err != nil {
		return r.broken(err)
	}
	return r.read(body)
}

func (r responseStream) broken(err error) conn.Reply {
	if err == io.EOF {
		err = errStreamEnd
	}
	return conn.Reply{Err: r.interrupted(r.x, err)}
}

// errContinuesElsewhere means that an inline caller of Send must return before the stream ends.
var errContinuesElsewhere = errors.New("left to another goroutine")

// mustReturn reports once that an inline caller of Send must return.
func mustReturn(x *conn.Exchange) bool {
	if !x.Req.Here || !x.InlineStopped.Load() {
		return false
	}
	x.Req.Here = false
	return true
}

// follow handles events until it has the reply to x. It delivers the reply without waiting for the
// end of the stream, which may come late.
func (r responseStream) follow() error {
	for {
		if mustReturn(r.x) {
			return errContinuesElsewhere
		}
		e, err := r.events.Next()
		if err != nil {
			return err
		}
		if len(e.Data) == 0 {
			continue
		}
		m, err := wire.ParseUpstream(e.Data)
		switch {
		case err != nil && conn.IsInvalidAnswer(e.Data, r.x.ID):
			return conn.ErrMalformed
		case err == nil && conn.AnswerTo(m, r.x.ID) && r.dropped(r.x, r.s, m.Error):
			return errUnknownSession
		case err == nil && conn.AnswerTo(m, r.x.ID):
			r.x.Deliver(conn.ReplyOf(m, true))
			return nil
		case err == nil && m.Kind == wire.Notification && m.Method != conn.MethodCancelled && r.owner(m).Notify(m.Method, m.Params):
		default:
			r.take(m, err)
		}
	}
}

// owner returns the request that a notification on the stream of x belongs to. Some servers
// confuse the streams of a session, so a progress token takes precedence over the stream.
func (r responseStream) owner(m wire.Message) *conn.Exchange {
	if m.Method == "notifications/progress" {
		if named := r.Pending.Progressing(m.Params); named != nil {
			return named
		}
	}
	return r.x
}

// take handles a message that is not an answer. x is the request that the stream belongs to, or
// nil.
func (r responseStream) take(m wire.Message, err error) {
	switch {
	case err != nil:
		r.Host.Log.Debug("malformed event from upstream", "error", err)
	case m.Kind == wire.Response:
		r.Host.Log.Debug("dropped an answer without a request")
	case m.Kind == wire.Request:
		if r.s.Rev() == rev.Rev2026 || !r.Relay(r.x, m, func(answer []byte) { r.reply(r.s, answer) }) {
			r.refuse(r.s, m)
		}
	default:
		r.Notification(m)
	}
}

// resume requests the rest of a stream that the server has ended.
func (r responseStream) resume() (body io.ReadCloser, err error) {
	pause := usualResume
	if r.events.retry > 0 {
		pause = min(r.events.retry, longResume)
	}
	if !conn.Sleep(r.x.Ctx, pause) {
		return nil, r.x.Ctx.Err()
	}
	response, err := r.Get(r.x.Ctx, r.s, r.events.lastID)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK || MediaType(response.Header) != "text/event-stream" {
		response.Body.Close()
		return nil, errStreamEnd
	}
	r.events.restart(response.Body)
	return response.Body, nil
}

// drain reads the rest of a body for a short time, because the connection can be reused only after
// that.
func (r responseStream) drain(body io.Reader) {
	stop := time.AfterFunc(drainTime, r.x.Abort)
	defer stop.Stop()
	_, _ = io.CopyN(io.Discard, body, ExcerptLimit)
}
