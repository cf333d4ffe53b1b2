package streamable

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/upstream/conn"
	"github.com/petrigate/petrigate/proxy/internal/upstream/process"
	"github.com/petrigate/petrigate/proxy/internal/wait"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

const (
	maxResumes  = 100 // maximum number of consecutive times that a stream is resumed without receiving a new event ID
	usualResume = time.Second
	longResume  = time.Minute
)

// A responseStream is an event stream from the server: either the response to a request, or the GET
// stream of a session.
type responseStream struct {
	*Conn
	x      *conn.Exchange // exchange whose reply the stream contains; nil for the GET stream of a session
	s      *conn.Session
	events *EventReader
}

// read handles the messages on the event stream until it has delivered the reply to the exchange
// r.x. It then returns an empty Reply. If it fails, it returns a Reply with an error.
//
// A server that uses revision 2025-11-25 may end the stream early. If the stream contained an event
// ID, read then requests the rest with GET, which does not execute the request again. If Send must
// return before the reply arrives (see mustReturn), read returns a Reply whose Rest function
// continues reading.
func (r responseStream) read(body io.ReadCloser) conn.Reply {
	for resumes, seen := 0, ""; ; resumes++ {
		err := r.follow()
		switch err {
		case errContinuesElsewhere:
			rest := body // copy body, so that body itself does not escape to the heap
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
	_, cause := r.cause(r.x, err)
	return conn.Reply{Err: &conn.Lost{Sent: true, Cause: cause}}
}

// errContinuesElsewhere means that Send must return now (see mustReturn), and another goroutine
// must read the rest of the stream.
var errContinuesElsewhere = errors.New("left to another goroutine")

// mustReturn reports whether Send must return now because Exchange.StopInline was called. Another
// goroutine must then complete the exchange. mustReturn returns true at most once per exchange.
func mustReturn(x *conn.Exchange) bool {
	if !x.Req.Here || !x.InlineStopped.Load() {
		return false
	}
	x.Req.Here = false
	return true
}

// follow handles events until it has delivered the reply to r.x. It does not wait for the end of
// the stream, which may come much later.
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

// owner returns the request that a notification on this stream belongs to. A notification with the
// progress token of an open request belongs to that request. It may arrive on the stream of another
// request, because some servers mix up the streams of a session. Every other notification belongs
// to r.x.
func (r responseStream) owner(m wire.Message) *conn.Exchange {
	if m.Method == "notifications/progress" {
		if named := r.Pending.Progressing(m.Params); named != nil {
			return named
		}
	}
	return r.x
}

// take handles any message from the stream except the reply to r.x.
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
	if !wait.Sleep(r.x.Ctx, pause) {
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

// drain briefly reads the rest of a body, because a connection can be reused only after its
// response has been read.
func (r responseStream) drain(body io.Reader) {
	stop := time.AfterFunc(drainTime, r.x.Abort)
	defer stop.Stop()
	_, _ = io.CopyN(io.Discard, body, ExcerptLimit)
}

// An Event is a server-sent event.
type Event struct {
	id   string
	Kind string // type specified by the server; empty means message
	Data []byte
}

// An EventReader reads server-sent events as they arrive.
type EventReader struct {
	lines *process.LineReader
	max   int
	begun bool

	lastID string        // most recent event ID
	retry  time.Duration // delay requested by the server; 0 if none
}

func NewEventReader(r io.Reader, max int) *EventReader {
	return &EventReader{lines: process.NewLineReader(r, max), max: max}
}

// restart makes r continue with s, a stream that resumes the previous one.
func (r *EventReader) restart(s io.Reader) {
	r.lines, r.begun = process.NewLineReader(s, r.max), false
}

// Next returns the next event with data or an ID. The event's data belongs to the caller.
func (r *EventReader) Next() (Event, error) {
	var e Event
	for {
		line, kept, err := r.lines.Next()
		if err != nil {
			return Event{}, err
		}
		if !r.begun {
			line, r.begun = bytes.TrimPrefix(line, []byte("\xEF\xBB\xBF")), true
		}
		if len(line) == 0 {
			if e.Data != nil || e.id != "" {
				return e, nil
			}
			continue
		}
		r.field(&e, line, kept)
		if len(e.Data) > r.max {
			return Event{}, process.ErrTooLong
		}
	}
}

func (r *EventReader) field(e *Event, line []byte, kept bool) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "data":
		e.add(value, kept)
	case "event":
		e.Kind = string(value)
	case "id":
		if bytes.IndexByte(value, 0) < 0 {
			e.id, r.lastID = string(value), string(value)
		}
	case "retry":
		if ms, err := strconv.Atoi(string(value)); err == nil && ms >= 0 && ms <= 1<<30 {
			r.retry = time.Duration(ms) * time.Millisecond
		}
	}
}

// add appends a line to the event's data. If kept is false, value will be overwritten, so add
// copies it.
func (e *Event) add(value []byte, kept bool) {
	switch {
	case e.Data == nil && kept:
		e.Data = value
	case e.Data == nil:
		e.Data = append(make([]byte, 0, len(value)), value...)
	default:
		e.Data = append(append(e.Data, '\n'), value...)
	}
}
