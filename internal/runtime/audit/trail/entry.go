package trail

import (
	"bytes"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/audit"
)

// An Entry is a record as a reader sees it: the members of all events.
type Entry struct {
	audit.Decision
	Outcome string  `json:"outcome"`
	Millis  float64 `json:"ms"`
	By      string  `json:"by"`
	Net     string  `json:"net"`     // of a switch
	Process string  `json:"process"` // of a start, an end, a policy, a session
	Driver  string  `json:"driver"`
	Task    string  `json:"task"`
	Said    string  `json:"said"` // by a person whose answer does not count

	// What the other events have by the names of a decision is in these.
	Active  []string `json:"active"`
	Fields  []string `json:"fields"`
	Results []string `json:"results"`
	Maps    []string `json:"maps"`
	Actions []string `json:"actions"`
}

// A Filter selects records: those that are as all of its fields that are not empty say.
type Filter struct {
	Event, Session, Principal, Tool, Decision, Kind, Approval, Net string

	Only string // calls: decisions and outcomes; acts: also what people and policies did, without processes and sessions that begin and end

	Call         uint64
	Since, Until time.Time // Until is exclusive
}

// may reports whether the record could be selected, by its text alone: most are not.
func (f *Filter) may(event []byte) bool {
	for _, text := range [...]string{f.Session, f.Principal, f.Approval} {
		if text != "" && !bytes.Contains(event, []byte(text)) {
			return false
		}
	}
	return true
}

// Matches reports whether the entry is selected. A tool is known by its own name, by the one
// with its upstream, and by the names of the call.
func (f *Filter) Matches(e *Entry) bool {
	is := func(want, got string) bool { return want == "" || want == got }
	switch {
	case !is(f.Event, e.Event) || !is(f.Session, e.Session) || !is(f.Principal, e.Principal) || !is(f.Approval, e.Approval):
		return false
	case !is(f.Decision, e.Decision.Decision) || !is(f.Kind, e.Kind):
		return false
	case f.Only != "" && !e.isCall() && (f.Only == "calls" || e.isRoutine()):
		return false
	case f.Call > 0 && f.Call != e.Call:
		return false
	case !f.Since.IsZero() && e.Time.Before(f.Since) || !f.Until.IsZero() && !e.Time.Before(f.Until):
		return false
	}
	return (f.Tool == "" || e.isOf(f.Tool)) && (f.Net == "" || e.says(f.Net))
}

// isCall reports whether the record is about one call.
func (e *Entry) isCall() bool {
	switch e.Event {
	case "decision", "outcome", "task", "left", "missing":
		return true
	}
	return false
}

// isRoutine reports whether the record is of a process, a session or a file that begins or ends.
func (e *Entry) isRoutine() bool {
	switch e.Event {
	case "session opened", "session closed", "end", "closed", "continued":
		return true
	case "start": // of a process; without one it is an order of an operator
		return e.Process != ""
	}
	return false
}

func (e *Entry) isOf(tool string) bool {
	if e.Tool == tool || e.Upstream+"."+e.Tool == tool {
		return true
	}
	for _, n := range e.Names {
		if n == tool {
			return true
		}
	}
	return false
}

func (e *Entry) says(net string) bool {
	for i := range e.Nets {
		if e.Nets[i].Net == net {
			return true
		}
	}
	return e.Net == net
}

// Select reads the record, and reports whether it is selected. A record that cannot be read
// is selected by no filter but the empty one.
func (f *Filter) Select(r *Record) (e Entry, ok bool) {
	if !f.may(r.Event) {
		return e, false
	}
	e, err := r.Entry()
	if err != nil {
		return e, *f == Filter{}
	}
	return e, f.Matches(&e)
}
