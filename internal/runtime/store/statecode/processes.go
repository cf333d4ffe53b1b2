package statecode

import (
	"cmp"
	"fmt"
	"time"

	"github.com/petrigate/petrigate/gate"
)

// Processes contains, for each open call of a session, the process that admitted it.
type Processes struct {
	Own    string            // process that admitted all calls except those in Others
	Others map[uint64]string // for each call that Own did not admit, the process that admitted it, keyed by call number; empty if unknown
}

// processFor returns the value to store for the process that admitted a call. The value is the name
// of the process, or "" if the process is unknown or is the session's writer.
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

// formVersion returns the format version to write in a session's stored state: 2 if the state names
// a process that admitted a call, and otherwise 1. An older program would ignore the name, so it
// must refuse the state, and version 2 makes it do so.
func formVersion(s *gate.State, writer string, p Processes) string {
	for number := range s.Calls {
		if p.processFor(number, writer) != "" {
			return "2"
		}
	}
	return "1"
}

// OpenCalls is a string that occurs in the stored state of every session with open calls. A search
// for this string finds these sessions in a database.
const OpenCalls = `,"calls":[{"number":`

// OpenCall is an open call in its stored form.
type OpenCall struct {
	Number  uint64
	Tool    string
	Since   time.Time
	Unknown bool   // whether the outcome was reported as unknown
	More    uint64 // number of further calls with an unknown outcome that this call represents; see [gate.OpenCall.More]
	Process string // process that admitted the call, or empty if unknown
}

// ReadOpen decodes the open calls of a session and the session's stored metadata, such as its
// principal. It does not need the session's policy.
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
		calls[i].Process = cmp.Or(calls[i].Process, d.info.Writer)
	}
	d.info.Open = len(calls)
	return d.info, calls, d.err
}

// openCall decodes a call, keeping only the members that [OpenCall] has.
func (d *decoder) openCall(value []byte) OpenCall {
	var o gate.OpenCall
	process := ""
	d.object("the open calls", value, func(key string, value []byte) bool {
		d.openMember(&o, &process, key, value)
		return true
	})
	return OpenCall{o.Number, o.Call.Tool, o.Call.Time, o.Unknown, o.More, process}
}

// openMember decodes a member of a call if [OpenCall] has such a member. Otherwise it returns
// false.
func (d *decoder) openMember(o *gate.OpenCall, process *string, key string, value []byte) bool {
	const where = "the open calls"
	switch key {
	case "number":
		o.Number = d.number(where, value)
	case "tool":
		o.Call.Tool = d.text(where, value)
	case "time":
		o.Call.Time = d.time(where, value)
	case "unknown":
		o.Unknown = d.flag(where, value)
	case "more":
		o.More = d.number(where, value)
	case "process":
		*process = d.text(where, value)
	default:
		return false
	}
	return true
}
