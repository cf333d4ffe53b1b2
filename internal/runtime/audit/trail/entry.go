package trail

import (
	"bytes"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/audit"
)

// An Entry is a record as a reader sees it.
type Entry = audit.Entry

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
	case f.Only != "" && !e.IsCall() && (f.Only == "calls" || e.IsRoutine()):
		return false
	case f.Call > 0 && f.Call != e.Call:
		return false
	case !f.Since.IsZero() && e.Time.Before(f.Since) || !f.Until.IsZero() && !e.Time.Before(f.Until):
		return false
	}
	return (f.Tool == "" || e.IsOf(f.Tool)) && (f.Net == "" || e.Says(f.Net))
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
