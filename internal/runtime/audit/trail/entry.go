package trail

import (
	"bytes"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/audit"
)

// An Entry is a decoded record.
type Entry = audit.Entry

// A Filter selects records that match all of its non-zero fields.
type Filter struct {
	Event, Session, Principal, Tool, Decision, Kind, Approval, Net string

	Only string // "calls" selects records about calls; "acts" selects all records except routine ones, such as the start and end of a process or session

	Call         uint64
	Since, Until time.Time // Until is exclusive
}

// mightMatch reports whether the record could match the filter, judging by the record's raw text.
// It rules out most records without decoding them.
func (f *Filter) mightMatch(event []byte) bool {
	for _, text := range [...]string{f.Session, f.Principal, f.Approval} {
		if text != "" && !bytes.Contains(event, []byte(text)) {
			return false
		}
	}
	return true
}

// Matches reports whether the filter selects e. The filter's Tool can be the tool's own name, with
// or without the upstream's name as a prefix, or another name of the call.
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

// Select decodes the record and reports whether the filter selects it. A record that cannot be
// decoded is selected only by the empty filter.
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

// A Record is an encoded record and its position in a log.
type Record struct {
	Writer string // writer of the chain; set only for a database
	Seq    uint64
	Event  []byte // the record's JSON object, without its number and hash
	Hash   [32]byte
	File   string // path of the file; empty for a database
	Line   int    // line number in File, starting at 1
}

// Entry decodes the event. It returns an error if the event is not valid JSON.
func (r *Record) Entry() (Entry, error) { return audit.ReadEntry(r.Event) }
