package store

import (
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/store/statecode"
)

// takeover converts the cached states to another policy. While it runs, no other goroutine may hold
// the lock of a session or of shared nets.
type takeover struct {
	admission.Adoption
	from, to   *statecode.Codec
	states     map[*entry]adoptedState
	principals map[string]*part
	global     *part
	report     adoptionReport
}

// adoptedState is a session's state under the new policy, and its new row.
type adoptedState struct {
	state *gate.State
	row   *row
}

// adoptEntry converts a session's state to the new policy, unless the state must first be read from
// the database. It first copies the shared nets into the session's old state, because the session's
// calls refer to these nets.
func (t *takeover) adoptEntry(e *entry) {
	if e.row == nil || e.row.dropReason() != nil {
		return
	}
	for _, p := range e.parts {
		if p.row != nil {
			p.copyInto(e.state)
		}
	}
	state, kept := t.Policy.Adopt(e.state, adoptOptions(t.Adoption))
	t.report.add(e.info.Key, filterScope(kept, e.state, state, gate.ScopeSession))
	t.states[e] = adoptedState{state, t.adoptRow(e.row, e.state, state, gate.ScopeSession)}
}

func (t *takeover) adoptPart(p *part) *part {
	if p.row == nil || p.row.dropReason() != nil {
		next := newPart(t.Policy, p.scope, t.Active)
		next.name = p.name
		return next
	}
	next, kept := p.adopt(t.from.Policy(), t.Adoption)
	next.name = p.name
	t.report.add(admission.Key{Principal: p.name}, kept)
	old, state := t.from.Policy().NewState(nil), t.Policy.NewState(nil)
	p.copyInto(old)
	next.copyInto(state)
	next.row = t.adoptRow(p.row, old, state, p.scope)
	return next
}

// adoptRow returns a row for the new state. The row's next write replaces all values of the old
// state with those of the new state.
func (t *takeover) adoptRow(r *row, old, state *gate.State, scope gate.Scope) *row {
	next := &row{id: r.id, version: r.version, removed: slices.Clone(r.removed)}
	next.durable.Store(r.durable.Load())
	for i, n := range t.from.Policy().Nets() {
		if n.Scope == scope {
			for key := range old.Nets[i].Values.All() {
				next.removed = append(next.removed, t.from.RowName(i, key))
			}
		}
	}
	for i, n := range t.Policy.Nets() {
		if n.Scope == scope {
			next.markValues(i, state.Nets[i].Values)
		}
	}
	return next
}
