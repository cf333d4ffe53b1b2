package store

import (
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/store/statecode"
)

// A takeover is what the states in memory become under another policy. Nobody else has a
// lock.
type takeover struct {
	admission.Adoption
	from, to   *statecode.Codec
	states     map[*entry]taken
	principals map[string]*part
	global     *part
	report     []admission.Adopted
}

// taken is the state of a session, with the row of it.
type taken struct {
	state *gate.State
	row   *row
}

// entry takes over a session. What it shares is part of its calls.
func (t *takeover) entry(e *entry) {
	if e.row == nil || e.row.faulty() != nil {
		return
	}
	for _, p := range e.parts {
		if p.row != nil {
			p.put(e.state)
		}
	}
	state, kept := t.Policy.Adopt(e.state, options(t.Adoption))
	t.add(e.info.Key, ofScope(kept, e.state, state, gate.ScopeSession))
	t.states[e] = taken{state, t.row(e.row, e.state, state, gate.ScopeSession)}
}

func (t *takeover) part(p *part) *part {
	if p.row == nil || p.row.faulty() != nil {
		next := newPart(t.Policy, p.scope, t.Active)
		next.name = p.name
		return next
	}
	next, kept := p.adopt(t.from.Policy(), t.Adoption)
	next.name = p.name
	t.add(admission.Key{Principal: p.name}, kept)
	old, state := t.from.Policy().NewState(nil), t.Policy.NewState(nil)
	p.put(old)
	next.put(state)
	next.row = t.row(p.row, old, state, p.scope)
	return next
}

func (t *takeover) add(k admission.Key, kept []gate.Kept) {
	if len(kept) > 0 {
		t.report = append(t.report, admission.Adopted{Key: k, Nets: kept})
	}
}

// row returns the row with what is to be written and removed of its values.
func (t *takeover) row(r *row, old, state *gate.State, scope gate.Scope) *row {
	next := &row{id: r.id, version: r.version, gone: slices.Clone(r.gone)}
	next.durable.Store(r.durable.Load())
	for i, n := range t.from.Policy().Nets() {
		if n.Scope == scope {
			for key := range old.Nets[i].Values.All() {
				next.gone = append(next.gone, t.from.Row(i, key))
			}
		}
	}
	for i, n := range t.Policy.Nets() {
		if n.Scope == scope {
			next.spoilAll(i, state.Nets[i].Values)
		}
	}
	return next
}
