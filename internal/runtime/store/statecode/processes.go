package statecode

import (
	"fmt"
	"time"

	"github.com/petrigate/petrigate/gate"
)

// Processes contains, for each open call of a session, the process that admitted it.
type Processes struct {
	Own    string            // process that admitted the calls that are not in Others
	Others map[uint64]string // processes by call number; empty: unknown
}

// processFor returns the process to write for a call. The result is empty if the process is unknown
// or is the session's writer.
func (p Processes) processFor(call uint64, writer string) string {
	process, known := p.Others[call]
	if !known {
		process = p.Own
	}
	if process == writer {
		return ""
	}
	return process
}

// formVersion returns the version of a part's written form. A program that knows only version 1
// would ignore the calls' processes, so version 2 makes the program refuse the part.
func formVersion(s *gate.State, writer string, p Processes) string {
	for number := range s.Calls {
		if p.processFor(number, writer) != "" {
			return "2"
		}
	}
	return "1"
}

// OpenCalls is a string that is contained in the part of every session with open calls.
const OpenCalls = `,"calls":[{"number":`

// OpenCall is an open call in its stored form.
type OpenCall struct {
	Number  uint64
	Tool    string
	Since   time.Time
	Unknown bool   // the outcome was reported as unknown
	More    uint64 // see [gate.OpenCall]
	Process string // process that admitted the call; empty: unknown
}

// ReadOpen decodes the facts that are stored beside a session's nets, and the session's open calls.
// It does so under any policy.
func ReadOpen(name string, data []byte) (Info, []OpenCall, error) {
	d := decoder{subject: fmt.Sprintf("session %q", name)}
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

// openCall decodes those members of a call that [OpenCall] has.
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
