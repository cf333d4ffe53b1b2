package streamable

import (
	"bytes"
	"io"
	"strconv"
	"time"

	"github.com/petrigate/petrigate/proxy/internal/upstream/process"
)

// An Event is a server-sent event.
type Event struct {
	id   string
	Kind string // type that the server has specified; empty: message
	Data []byte
}

// An EventReader reads server-sent events as they arrive.
type EventReader struct {
	lines *process.LineReader
	max   int
	begun bool

	lastID string        // ID of the last event that had an ID
	retry  time.Duration // delay that the server has requested; 0 if none
}

func NewEventReader(r io.Reader, max int) *EventReader {
	return &EventReader{lines: process.NewLineReader(r, max), max: max}
}

// restart continues with another stream that resumes the previous one.
func (r *EventReader) restart(s io.Reader) {
	r.lines, r.begun = process.NewLineReader(s, r.max), false
}

// Next returns the next event that has data or an ID. The data of the event belongs to the caller.
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

// add adds a line of data. If there is only one line, and if the caller keeps that line, it is not
// copied.
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
