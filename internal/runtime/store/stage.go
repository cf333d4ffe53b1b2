package store

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/runtime/store/statecode"
)

// Stage implements [admission.Ledger].
func (d *Durable) Stage(ctx context.Context, k admission.Key, f func(*gate.State) (admission.Change, error)) (admission.Commit, error) {
	var seen *readCheck
	s, err := d.withSession(ctx, k, func(e *entry) (*queuedStep, error) {
		change, err := f(e.state)
		if err != nil {
			return nil, err
		}
		if !e.needsWrite(&change) {
			e.apply(change.Delta)
			seen = d.newReadCheck(e)
			return nil, nil
		}
		return d.stageChange(e, &change)
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

// needsWrite reports whether the change must be written to the database. A change that only
// advances clocks is not written, because the next decision advances them again. An admission is
// always written, because the database checks whether it is still permitted.
func (e *entry) needsWrite(c *admission.Change) bool {
	d := c.Delta
	return c.Admits || len(c.Events) > 0 || c.Uses != "" || d != nil &&
		(d.Opened != nil || d.Closed != 0 || d.Asked != nil || d.Spent != 0 || d.Would != "" || e.ended && d.Answered != 0)
}

// stageChange applies a change and queues its step. The caller must hold the locks of the session
// and of its shared nets.
func (d *Durable) stageChange(e *entry, c *admission.Change) (*queuedStep, error) {
	s := d.newQueued(e.info.Key)
	if err := s.addEvents(c.Events); err != nil {
		return nil, err
	}
	admits, parts := uint64(0), [3]access{}
	if c.Delta != nil {
		if o := c.Delta.Opened; o != nil && e.state.Calls[o.Number] == nil {
			admits = o.Number
		}
		parts = e.accesses(c.Delta)
	}
	if c.Delta == nil || c.Delta.Opened == nil && c.Delta.Closed == 0 { // a refusal depends on every part of the state that the step has read
		for scope := range parts {
			parts[scope] = max(parts[scope], accessRead)
		}
	}
	e.apply(c.Delta)
	if err := d.prepare(s, e, parts); err != nil {
		return nil, err
	}
	s.call, s.op.Reserve, s.op.Uses = admits, c.Admits, c.Uses
	if c.Delta != nil {
		e.noteAsk(c.Delta, s)
	}
	return d.enqueue(s), nil
}

// noteAsk remembers the step of a call that waits for approval, until the call is answered.
func (e *entry) noteAsk(delta *gate.Delta, s *queuedStep) {
	delete(e.asks, delta.Answered)
	if a := delta.Asked; a != nil {
		if e.asks == nil {
			e.asks = map[uint64]*queuedStep{}
		}
		e.asks[a.Number] = s
	}
}

// stageWrite queues a step that writes the session without changing its nets.
func (d *Durable) stageWrite(e *entry) (*queuedStep, error) {
	s := d.newQueued(e.info.Key)
	if err := d.prepare(s, e, e.accesses(nil)); err != nil {
		return nil, err
	}
	return d.enqueue(s), nil
}

// access describes how a step uses a part of the state.
type access uint8

const (
	accessNone  access = iota
	accessRead         // the step's outcome depends on the part
	accessWrite        // the step writes the part
)

// accesses determines how a step that makes the given changes uses each part of the state. For the
// session's part, it always returns accessWrite.
func (e *entry) accesses(delta *gate.Delta) (parts [3]access) {
	parts[gate.ScopeSession] = accessWrite
	if delta == nil {
		return parts
	}
	ended := e.endingCall(delta)
	for _, p := range e.parts {
		has := func(net int) bool { return slices.Contains(p.nets, net) }
		switch {
		case slices.ContainsFunc(delta.Nets, func(n gate.NetDelta) bool { return has(n.Net) }):
			parts[p.scope] = accessWrite
		case p.reads, ended != nil && slices.ContainsFunc(ended.Nets, has):
			parts[p.scope] = accessRead
		}
	}
	return parts
}

// endingCall returns the call that the given changes close or replace, or nil if they do neither. A
// step that makes such changes depends on all nets that wait for the call to end, including those
// that do not change.
func (e *entry) endingCall(delta *gate.Delta) *gate.OpenCall {
	if c := e.state.Calls[delta.Closed]; c != nil {
		return c
	}
	if o := delta.Opened; o != nil {
		return e.state.Calls[o.Number]
	}
	return nil
}

// apply applies the delta to the state in memory and marks the changes to be written.
func (e *entry) apply(delta *gate.Delta) {
	if delta == nil {
		return
	}
	for i := range delta.Nets {
		n := &delta.Nets[i]
		r := e.rowOf(n.Net)
		r.markNet(n.Net)
		if n.Key != "" {
			r.markValue(n.Net, n.Key)
		} else if old := e.state.Nets[n.Net].Values; old != n.Data.Values {
			r.markValues(n.Net, old, n.Data.Values)
		}
	}
	e.row.change.Spent = e.row.change.Spent || delta.Spent != 0
	e.row.markCall(delta.Closed)
	if delta.Opened != nil {
		e.row.markCall(delta.Opened.Number)
	}
	e.state.Apply(delta)
}

// rowOf returns the row for the net's part of the state.
func (e *entry) rowOf(net int) *row {
	for _, p := range e.parts {
		if slices.Contains(p.nets, net) {
			return p.row
		}
	}
	return e.row
}

// prepare adds the necessary writes to the step s: a write of each part of the state that the step
// has changed, and a version check of each part that it has only read. If the session has finished
// (see [entry.ifFinished]), its part is removed from the database. prepare also increments the
// versions of the written parts in memory. If encoding fails, prepare drops the session's rows, so
// that they are read again. The caller must hold the locks of the session and of its shared nets.
func (d *Durable) prepare(s *queuedStep, e *entry, parts [3]access) error {
	if s.op.Writes, s.rows = s.inline.writes[:0], s.inline.rows[:0]; 1+len(e.parts) > len(s.inline.rows) {
		s.op.Writes, s.rows = make([]backend.Write, 0, 1+len(e.parts)), make([]*row, 0, 1+len(e.parts))
	}
	if parts[gate.ScopeSession] == accessWrite && (e.ifFinished() == nil || e.row.version > 0) {
		w := backend.Write{ID: e.row.id, Version: e.row.version}
		var err error
		if e.ifFinished() == nil {
			if err = e.encode(d, &w); err == nil {
				w.Values, err = e.row.encodeValues(d.codec, e.state)
			}
		}
		if err != nil {
			return e.dropRows(err)
		}
		s.addWrite(e.row, w)
	}
	s.op.Lasts = len(s.op.Writes) > 0 && (e.info.Lasting || e.info.About != nil) // true if the session outlives this process or uses HTTP
	if parts[gate.ScopeSession] == accessRead {
		s.addWrite(e.row, backend.Write{ID: e.row.id, Version: e.row.version, Read: true})
	}
	for _, p := range e.parts {
		w := backend.Write{ID: p.row.id, Version: p.row.version}
		if parts[p.scope] != accessWrite {
			if w.Read = true; parts[p.scope] == accessRead {
				s.addWrite(p.row, w)
			}
			continue
		}
		var err error
		if err = p.encode(d, e.state, &w); err == nil {
			w.Values, err = p.row.encodeValues(d.codec, e.state)
		}
		if err != nil {
			return e.dropRows(err)
		}
		s.op.Lasts = true
		s.addWrite(p.row, w)
	}
	s.rows = e.appendRows(s.rows)
	return nil
}

// encode stores the encoded session in w, or only the changes if [row.changesOnly] permits this.
func (e *entry) encode(d *Durable, w *backend.Write) (err error) {
	info, processes := e.storedInfo(d.database.Writer()), d.processesOf(e)
	if e.row.changesOnly(d.database) {
		w.Change, err = d.codec.AppendSessionChange(make([]byte, 0, 512), e.state, info, processes, &e.row.change)
	} else {
		w.Data, err = d.codec.AppendSession(e.row.buffer(), e.state, info, processes)
	}
	return err
}

// encode encodes the states of the part's nets and stores them in w. It stores only the changes if
// [row.changesOnly] permits this.
func (p *part) encode(d *Durable, s *gate.State, w *backend.Write) (err error) {
	if p.row.changesOnly(d.database) {
		w.Change, err = d.codec.AppendSharedChange(make([]byte, 0, 512), s, &p.row.change)
	} else {
		w.Data, err = d.codec.AppendShared(p.row.buffer(), s, p.scope)
	}
	return err
}

// dropRows drops all rows of the session because its changes could not be encoded.
func (e *entry) dropRows(err error) error {
	for _, r := range e.appendRows(nil) {
		r.drop(err)
	}
	return fmt.Errorf("%w: %w", audit.ErrUnrecorded, err)
}

// processesOf returns the processes that admitted the session's open calls. The caller must hold
// the session lock.
func (d *Durable) processesOf(e *entry) statecode.Processes {
	maps.DeleteFunc(e.admittedBy, func(number uint64, _ string) bool { return e.state.Calls[number] == nil })
	return statecode.Processes{Own: d.database.Writer(), Others: e.admittedBy}
}
