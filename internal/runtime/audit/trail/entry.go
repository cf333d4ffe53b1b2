package trail

import (
	"bytes"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/audit"
)

// An Entry is a decoded record.
type Entry = audit.Entry

// A Filter selects the records that match all of its non-empty fields.
type Filter struct {
	Event, Session, Principal, Tool, Decision, Kind, Approval, Net string

	Only string // "calls": records about calls; "acts": also records about the actions of people and policies, but not about the starts and ends of processes and sessions

	Call         uint64
	Since, Until time.Time // Until itself is excluded
}

// mightMatch reports whether the record's text shows that the record could match. It rejects most
// records without decoding them.
func (f *Filter) mightMatch(event []byte) bool {
	for _, text := range [...]string{f.Session, f.Principal, f.Approval} {
		if text != "" && !bytes.Contains(event, []byte(text)) {
			return false
		}
	}
	return true
}

// Matches reports whether the entry matches. A tool matches by its own name, its qualified name, or
// one of the call's names.
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

// Select decodes the record and reports whether it matches. Only the empty filter matches a record
// that cannot be decoded.
func (f *Filter) Select(r *Record) (e Entry, ok bool) {
	if !f.mightMatch(r.Event) {
		return e, false
	}
	e, err := r.Entry()
	if err != nil {
		return e, *f == Filter{}
	}
	return e, f.Matches(&e)
}

// A Record is one record in a log.
type Record struct {
	Writer string // owner of the chain; databases only
	Seq    uint64
	Event  []byte // one JSON object without its number and hash
	Hash   [32]byte
	File   string // path; files only
	Line   int    // line number in the file, from 1
}

// Entry decodes the record's event. It returns an error if the event's JSON is invalid.
func (r *Record) Entry() (Entry, error) { return audit.ReadEntry(r.Event) }
