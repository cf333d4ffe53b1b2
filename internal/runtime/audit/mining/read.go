package mining

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/petrigate/petrigate/internal/policy/toolkind"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
)

// A Log is a record of calls that can be read repeatedly.
type Log struct {
	trail.Source
	Name    string // name of the log, for messages
	Durable bool   // whether sessions outlive their process; used only if the log does not show this
}

// A visitor receives the events of a log in order. admit is called before an admitted call is
// counted in its session. succeed is called after a success is counted. end is called when a
// session has ended.
type visitor interface {
	admit(s *session, a *action)
	succeed(s *session, a *action)
	end(s *session)
}

// A reader reads a log and calls visitors.
type reader struct {
	log        Log
	names      []string
	numbers    map[string]int
	labels     map[string]bool // additional names that the policy's map statements can give to calls
	kinds      []toolkind.Kind
	sessions   map[string]*session
	drivers    map[string]string
	writers    map[string]bool
	cut        bool      // whether the beginning of the log is missing
	whole      time.Time // records before this time may have been removed; zero if no records were removed
	visitors   []visitor
	onDecision func(e *trail.Entry) // called for each decision; may be nil
}

// walk reads the log from the beginning and passes its events to the visitors.
func (r *reader) walk(ctx context.Context, progress func(records int), visitors ...visitor) error {
	r.sessions, r.drivers, r.writers, r.visitors = map[string]*session{}, map[string]string{}, map[string]bool{}, visitors
	whole, err := trail.CompleteSince(ctx, r.log.Source)
	if err != nil {
		return err
	}
	r.cut, r.whole = !whole.IsZero(), whole
	err = each(ctx, r.log, progress, func(record *trail.Record, e *trail.Entry) {
		if !r.writers[record.Writer] {
			r.writers[record.Writer] = true
			r.cut = r.cut || record.Seq > 1
		}
		r.take(e)
	})
	if err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(r.sessions)) { // in a fixed order, so that the same log gives the same suggestions
		r.end(r.sessions[id])
	}
	return nil
}

// end notifies the visitors that a session has ended.
func (r *reader) end(s *session) {
	for _, v := range r.visitors {
		v.end(s)
	}
}

// each reads a log and calls visit for every record.
func each(ctx context.Context, log Log, progress func(records int), visit func(*trail.Record, *trail.Entry)) error {
	n := 0
	for record, err := range log.Records(ctx, nil) {
		if err != nil {
			return fmt.Errorf("reading %s: %w", log.Name, err)
		}
		e, err := record.Entry()
		if err != nil {
			return fmt.Errorf("reading %s: invalid record %d: %w", log.Name, record.Seq, err)
		}
		if n++; progress != nil {
			progress(n)
		}
		visit(&record, &e)
	}
	return nil
}

func (r *reader) take(e *trail.Entry) {
	switch e.Event {
	case "start":
		r.drivers[e.Process] = e.Driver
	case "session opened":
		r.open(e)
	case "session closed", "reset":
		if s := r.sessions[e.Session]; s != nil {
			r.end(s)
			delete(r.sessions, e.Session)
			if e.Event == "reset" { // the session continues, but the log is analyzed as if a new session began
				r.sessions[e.Session] = newSession(s.process)
			}
		}
	case "decision":
		r.decide(e)
	case "outcome", "settle success":
		s := r.sessions[e.Session]
		if s == nil {
			return
		}
		a := s.calls[e.Call]
		if a == nil {
			return
		}
		if e.Outcome != "unknown" {
			delete(s.calls, e.Call)
			s.ended(a)
		}
		if e.Outcome == "success" || e.Event == "settle success" {
			s.clock++
			s.succeeded(a)
			for _, v := range r.visitors {
				v.succeed(s, a)
			}
		}
	}
}

// open starts a session. If an existing session has outlived its process, open continues it
// instead.
func (r *reader) open(e *trail.Entry) {
	old := r.sessions[e.Session]
	driver, known := r.drivers[e.Process]
	durable := known && driver != "memory" || !known && r.log.Durable
	if old != nil && (old.process == e.Process || durable) {
		return
	}
	if old != nil {
		r.end(old)
	}
	s := newSession(e.Process)
	s.resumed = r.cut && durable
	s.early = e.Time.Before(r.whole)
	s.partial = s.resumed || s.early
	r.sessions[e.Session] = s
}

func (r *reader) decide(e *trail.Entry) {
	if r.onDecision != nil {
		r.onDecision(e)
	}
	if e.Decision.Decision != "allow" || len(e.Names) == 0 {
		return
	}
	s := r.sessions[e.Session]
	if s == nil {
		s = newSession(e.Process)
		s.partial = r.cut
		r.sessions[e.Session] = s
	}
	if s.resumed {
		s.resumed, s.partial = false, s.early || e.Call != 1
	}
	a := &action{time: e.Time, principal: e.Principal}
	for i, name := range e.Names {
		if i > 0 && !r.labels[name] {
			continue
		}
		n, ok := r.number(name, e)
		if !ok { // there are too many names, or this one is too long
			return
		}
		a.names = append(a.names, callName{n, !slices.Contains(e.Uncertain, name) && !slices.Contains(e.Weak, name)})
	}
	if !e.Called.IsZero() {
		a.time = e.Called
	}
	a.read(e)
	s.clock++
	a.clock = s.clock
	s.calls[e.Call] = a
	if !s.partial {
		for _, v := range r.visitors {
			v.admit(s, a)
		}
		s.passed(a)
	}
}

// number returns the index of the given name of a call, and adds the name if it is new. It returns
// false if there are too many names, or if the name is too long.
func (r *reader) number(name string, e *trail.Entry) (int, bool) {
	n, ok := r.numbers[name]
	if ok || len(r.names) == maxTools || len(name) > audit.MaxText/2 {
		return n, ok
	}
	n = len(r.names)
	r.names, r.numbers[name] = append(r.names, name), n
	if name == e.Names[0] {
		name = e.Tool // use the tool's name without the server prefix
	}
	r.kinds = append(r.kinds, toolkind.KindByName(name))
	return n, true
}
