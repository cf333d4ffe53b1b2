package statecode

import (
	"fmt"
	"time"

	"github.com/petrigate/petrigate/gate"
)

// Processes says which processes admitted the open calls of a session.
type Processes struct {
	Own    string            // of the calls that Others does not have
	Others map[uint64]string // by the number of the call; empty: it is not known
}

// named returns the process that is written with a call: empty where it is not known, or is the
// one whose session it is.
func (p Processes) named(call uint64, writer string) string {
	process, known := p.Others[call]
	if !known {
		process = p.Own
	}
	if process == writer {
		return ""
	}
	return process
}

// form returns the form of a part. A program that knows form 1 only would not read the processes
// of calls, and refuses form 2.
func form(s *gate.State, writer string, p Processes) string {
	for number := range s.Calls {
		if p.named(number, writer) != "" {
			return "2"
		}
	}
	return "1"
}

// OpenCalls is a text that the part of a session has if it has open calls.
const OpenCalls = `,"calls":[{"number":`

// An OpenCall is an open call as it is stored with a session.
type OpenCall struct {
	Number  uint64
	Tool    string
	Since   time.Time
	Unknown bool   // its outcome was reported as unknown
	More    uint64 // see [gate.OpenCall]
	Process string // that admitted it; empty: it is not known
}

// ReadOpen reads what is kept of a session beside its nets, and its open calls, whatever its policy.
func ReadOpen(name string, data []byte) (Info, []OpenCall, error) {
	d := decoder{of: fmt.Sprintf("session %q", name)}
	var calls []OpenCall
	d.object("the part", data, func(key string, value []byte) bool {
		switch key {
		case "principal", "since", "owner", "writer", "ended", "about":
			return d.member(key, value)
		case "calls":
			d.list("the open calls", value, func(value []byte) { calls = append(calls, d.openCall(value)) })
		}
		return true
	})
	for i := range calls {
		if calls[i].Process == "" {
			calls[i].Process = d.info.Writer
		}
	}
	d.info.Open = len(calls)
	return d.info, calls, d.err
}

// openCall reads what [OpenCall] has.
func (d *decoder) openCall(value []byte) (c OpenCall) {
	const where = "the open calls"
	d.object(where, value, func(key string, value []byte) bool {
		switch key {
		case "number":
			c.Number = d.number(where, value)
		case "tool":
			c.Tool = d.text(where, value)
		case "time":
			c.Since = d.time(where, value)
		case "unknown":
			c.Unknown = d.flag(where, value)
		case "more":
			c.More = d.number(where, value)
		case "process":
			c.Process = d.text(where, value)
		}
		return true
	})
	return c
}
