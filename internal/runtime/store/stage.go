package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// Stage implements [admission.Ledger].
func (d *Durable) Stage(ctx context.Context, k admission.Key, f func(*gate.State) (admission.Change, error)) (admission.Commit, error) {
	var seen *glance
	s, err := d.attempt(ctx, k, func(e *entry) (*queued, error) {
		change, err := f(e.state)
		if err != nil {
			return nil, err
		}
		if !e.writes(&change) {
			e.apply(change.Delta)
			seen = d.glance(e)
			return nil, nil
		}
		return d.make(e, &change)
	})
	switch {
	case err != nil:
		return nil, err
	case s != nil:
		return s, nil
	default:
		return seen, nil
	}
}

// writes reports whether the change is more than what time has moved, which the next
// decision finds again. That a call may be sent is asked of the database.
func (e *entry) writes(c *admission.Change) bool {
	d := c.Delta
	return c.Admits || len(c.Events) > 0 || c.Uses != "" || d != nil &&
		(d.Opened != nil || d.Closed != 0 || d.Asked != nil || d.Spent != 0 || d.Would != "" || e.ended && d.Answered != 0)
}

// make makes the step of a change. It needs the locks of the session.
func (d *Durable) make(e *entry, c *admission.Change) (*queued, error) {
	events, err := d.events(e.info.Session, c.Events)
	if err != nil {
		return nil, err
	}
	admits, parts := uint64(0), [3]touch{}
	if c.Delta != nil {
		if o := c.Delta.Opened; o != nil && e.state.Calls[o.Number] == nil {
			admits = o.Number
		}
		parts = e.touches(c.Delta)
	}
	if c.Delta == nil || c.Delta.Opened == nil && c.Delta.Closed == 0 { // a refusal depends on all that it has seen
		for scope := range parts {
			parts[scope] = max(parts[scope], read)
		}
	}
	e.apply(c.Delta)
	s, err := d.prepare(e, parts, events)
	if err != nil {
		return nil, err
	}
	s.call, s.events, s.op.Reserve, s.op.Uses = admits, c.Events, c.Admits, c.Uses
	if c.Delta != nil {
		e.await(c.Delta, s)
	}
	return d.enqueue(s), nil
}

// await notes by which step a call began to wait for a person.
func (e *entry) await(delta *gate.Delta, s *queued) {
	delete(e.asks, delta.Answered)
	if a := delta.Asked; a != nil {
		if e.asks == nil {
			e.asks = map[uint64]*queued{}
		}
		e.asks[a.Number] = s
	}
}

// write makes a step that writes parts as they are.
func (d *Durable) write(e *entry, parts [3]touch, events []backend.Event) (*queued, error) {
	s, err := d.prepare(e, parts, events)
	if err != nil {
		return nil, err
	}
	return d.enqueue(s), nil
}

// touch says what a step does with a part.
type touch uint8

const (
	unused  touch = iota
	read          // its outcome depends on it
	changed       // it is written
)

// touches says what a step with this delta does with each part. The session changes.
func (e *entry) touches(delta *gate.Delta) (parts [3]touch) {
	parts[gate.ScopeSession] = changed
	if delta == nil {
		return parts
	}
	ended := e.ending(delta)
	for _, p := range e.parts {
		has := func(net int) bool { return slices.Contains(p.nets, net) }
		switch {
		case slices.ContainsFunc(delta.Nets, func(n gate.NetDelta) bool { return has(n.Net) }):
			parts[p.scope] = changed
		case p.reads, ended != nil && slices.ContainsFunc(ended.Nets, has):
			parts[p.scope] = read
		}
	}
	return parts
}

// ending returns the call that ends by the delta: that it does not move a net which waits
// for the call is something that was read there. Nil: none ends.
func (e *entry) ending(delta *gate.Delta) *gate.OpenCall {
	if c := e.state.Calls[delta.Closed]; c != nil {
		return c
	}
	if o := delta.Opened; o != nil {
		return e.state.Calls[o.Number]
	}
	return nil
}

// apply makes a change in memory, and notes the rows of values that it changes.
func (e *entry) apply(delta *gate.Delta) {
	if delta == nil {
		return
	}
	for i := range delta.Nets {
		n := &delta.Nets[i]
		r := e.rowOf(n.Net)
		r.moves(n.Net)
		if n.Key != "" {
			r.spoil(n.Net, n.Key)
		} else if old := e.state.Nets[n.Net].Values; old != n.Data.Values {
			r.spoilAll(n.Net, old, n.Data.Values)
		}
	}
	e.row.change.Spent = e.row.change.Spent || delta.Spent != 0
	e.row.calls(delta.Closed)
	if delta.Opened != nil {
		e.row.calls(delta.Opened.Number)
	}
	e.state.Apply(delta)
}

// rowOf is the row of the part that has the net.
func (e *entry) rowOf(net int) *row {
	for _, p := range e.parts {
		if slices.Contains(p.nets, net) {
			return p.row
		}
	}
	return e.row
}

func (d *Durable) newQueued(e *entry, events []backend.Event) *queued {
	return &queued{ledger: d, session: e.info.Key, ended: make(chan struct{}),
		op: backend.Op{Session: e.info.Session, Events: events, Time: d.now()}}
}

// prepare makes a step that writes these parts, and raises their versions. It needs the
// locks of the session. After an error they are to be read again.
func (d *Durable) prepare(e *entry, parts [3]touch, events []backend.Event) (*queued, error) {
	s := d.newQueued(e, events)
	if s.op.Writes, s.rows = s.room.writes[:0], s.room.rows[:0]; 1+len(e.parts) > len(s.room.rows) {
		s.op.Writes, s.rows = make([]backend.Write, 0, 1+len(e.parts)), make([]*row, 0, 1+len(e.parts))
	}
	if parts[gate.ScopeSession] == changed && (e.ifOver() == nil || e.row.version > 0) {
		w := backend.Write{ID: e.row.id, Version: e.row.version}
		var err error
		if e.ifOver() == nil {
			if err = e.encode(d, &w); err == nil {
				w.Values, err = e.row.values(d.codec, e.state)
			}
		}
		if err != nil {
			return nil, e.spoilt(err)
		}
		s.writes(e.row, w)
	}
	s.op.Lasts = len(s.op.Writes) > 0 && (e.info.Lasting || e.info.About != nil) // a session of others, or over HTTP
	if parts[gate.ScopeSession] == read {
		s.writes(e.row, backend.Write{ID: e.row.id, Version: e.row.version, Read: true})
	}
	for _, p := range e.parts {
		w := backend.Write{ID: p.row.id, Version: p.row.version}
		if parts[p.scope] != changed {
			if w.Read = true; parts[p.scope] == read {
				s.writes(p.row, w)
			}
			continue
		}
		var err error
		if err = p.encode(d, e.state, &w); err == nil {
			w.Values, err = p.row.values(d.codec, e.state)
		}
		if err != nil {
			return nil, e.spoilt(err)
		}
		s.op.Lasts = true
		s.writes(p.row, w)
	}
	s.rows = e.addRows(s.rows)
	return s, nil
}

// encode writes the session, or only its changes.
func (e *entry) encode(d *Durable, w *backend.Write) (err error) {
	info, processes := e.stored(d.database.Writer()), d.processesOf(e)
	if e.row.changesOnly(d.database) {
		w.Change, err = d.codec.AppendSessionChange(make([]byte, 0, 512), e.state, info, processes, &e.row.change)
	} else {
		w.Data, err = d.codec.AppendSession(e.row.room(), e.state, info, processes)
	}
	return err
}

// encode writes the part from the state, or only its changes.
func (p *part) encode(d *Durable, s *gate.State, w *backend.Write) (err error) {
	if p.row.changesOnly(d.database) {
		w.Change, err = d.codec.AppendSharedChange(make([]byte, 0, 512), s, &p.row.change)
	} else {
		w.Data, err = d.codec.AppendShared(p.row.room(), s, p.scope)
	}
	return err
}

// spoilt drops what was changed in memory and cannot be written.
func (e *entry) spoilt(err error) error {
	for _, r := range e.addRows(nil) {
		r.drop(err)
	}
	return fmt.Errorf("%w: %w", audit.ErrUnrecorded, err)
}

// addRows adds the rows that the session has its state from.
func (e *entry) addRows(rows []*row) []*row {
	if !slices.Contains(rows, e.row) {
		rows = append(rows, e.row)
	}
	for _, p := range e.parts {
		if !slices.Contains(rows, p.row) {
			rows = append(rows, p.row)
		}
	}
	return rows
}

func (s *queued) writes(r *row, w backend.Write) {
	s.op.Writes, s.rows = append(s.op.Writes, w), append(s.rows, r)
	if !w.Read {
		r.version++
		if w.Data != nil {
			r.size = len(w.Data)
		}
		if r.written++; w.Change == nil {
			r.written = 1
		}
		r.change.Nets, r.change.Calls, r.change.Spent = r.change.Nets[:0], r.change.Calls[:0], false
		r.dirty, r.gone = nil, nil
	}
}

// enqueue puts the step behind those before it.
func (d *Durable) enqueue(s *queued) *queued {
	for i := range s.op.Writes {
		s.rows[i].last = s
	}
	d.queue.add(s)
	return s
}

// usualEvent is how many bytes an event takes at most, as a rule.
const usualEvent = 512

// events are events as bytes.
func (d *Durable) events(session string, events []audit.Event) ([]backend.Event, error) {
	if len(events) == 0 {
		return nil, nil
	}
	all := make([]backend.Event, 0, len(events))
	now := d.now()
	for _, e := range events {
		object, err := audit.AppendEvent(make([]byte, 0, usualEvent), e)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", audit.ErrUnrecorded, err)
		}
		all = append(all, backend.Event{Time: now, Session: session, Object: object})
	}
	return all, nil
}

// Append implements [admission.Ledger].
func (d *Durable) Append(_ context.Context, events ...audit.Event) (admission.Commit, error) {
	all, err := d.events("", events)
	if err != nil {
		return nil, err
	}
	s := d.newQueued(&entry{}, all)
	s.events = events
	return d.enqueue(s), nil
}
