package upstream

import (
	"bytes"
	"io"
	"strconv"
	"time"
)

// event is one event of a stream.
type event struct {
	id   string
	kind string // that the server gave it; empty: message
	data []byte
}

// eventReader reads an event stream as it arrives.
type eventReader struct {
	lines *lineReader
	max   int
	begun bool

	lastID string        // of the last event that had one
	retry  time.Duration // that the server asks for; 0: it does not
}

func newEventReader(r io.Reader, max int) *eventReader {
	return &eventReader{lines: newLineReader(r, max), max: max}
}

// restart continues with another stream, from where the last one ended.
func (r *eventReader) restart(s io.Reader) {
	r.lines, r.begun = newLineReader(s, r.max), false
}

// next returns the next event that has data or an id. Its data belongs to the caller.
func (r *eventReader) next() (event, error) {
	var e event
	for {
		line, kept, err := r.lines.next()
		if err != nil {
			return event{}, err
		}
		if !r.begun {
			line, r.begun = bytes.TrimPrefix(line, []byte("\xEF\xBB\xBF")), true
		}
		if len(line) == 0 {
			if e.data != nil || e.id != "" {
				return e, nil
			}
			continue
		}
		r.field(&e, line, kept)
		if len(e.data) > r.max {
			return event{}, errTooLong
		}
	}
}

func (r *eventReader) field(e *event, line []byte, kept bool) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "data":
		e.add(value, kept)
	case "event":
		e.kind = string(value)
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

// add appends a line of data; a single one that is kept needs no copy.
func (e *event) add(value []byte, kept bool) {
	switch {
	case e.data == nil && kept:
		e.data = value
	case e.data == nil:
		e.data = append(make([]byte, 0, len(value)), value...)
	default:
		e.data = append(append(e.data, '\n'), value...)
	}
}
