package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/runtime/store/statecode"
)

// errEvicted is that the entry is not that of the session any more.
var errEvicted = errors.New("another is in its place")

// attempt runs f under the locks of a session.
func (d *Durable) attempt(ctx context.Context, k admission.Key, f func(*entry) (*queued, error)) (*queued, error) {
	d.stay()
	defer d.move()
	d.staging.Add(1)
	defer d.staging.Add(-1)
	for {
		e, err := d.entry(ctx, k)
		if err != nil {
			return nil, err
		}
		s, err := d.under(ctx, e, f)
		if err != errEvicted { //nolint:errorlint // it is ours
			return s, err
		}
	}
}

// under runs f under the locks of the session, with its state as it is in the database and
// as steps of this process leave it.
func (d *Durable) under(ctx context.Context, e *entry, f func(*entry) (*queued, error)) (*queued, error) {
	if d.queue.full() {
		d.drain()
	}
	e.hold()
	defer e.release()
	if e.evicted {
		return nil, errEvicted
	}
	if err := d.read(ctx, e); err != nil {
		return nil, err
	}
	for _, p := range e.parts {
		p.hold()
		defer p.release() //nolint:gocritic // all of them, when f is over
		if err := d.readPart(ctx, p, e); err != nil {
			return nil, err
		}
		p.put(e.state)
	}
	s, err := f(e)
	for _, p := range e.parts {
		p.take(e.state)
	}
	if err == nil && e.ifOver() != nil {
		d.forget(e)
	}
	return s, err
}

// read makes the state of a session that of the database, unless it is. It needs the lock.
func (d *Durable) read(ctx context.Context, e *entry) error {
	if e.row != nil && e.row.faulty() == nil && !e.elsewhere() {
		return nil
	}
	part := backend.Part{ID: sessionID(e.info.Session)}
	if e.info.Session != "" {
		parts, err := d.database.Load(ctx, part.ID)
		if err != nil {
			return d.fault(err)
		}
		part = parts[0]
	}
	if e.row != nil {
		e.roams = errors.Is(e.row.faulty(), admission.ErrStale) || part.Version != e.row.version
	}
	var state *gate.State
	switch {
	case part.Version > 0:
		l, err := d.codec.Session(part.ID.Name, part.Data, part.Values)
		if err != nil {
			return err
		}
		if l.Info.Principal != e.info.Principal {
			return fmt.Errorf("session %q is of another principal", part.ID.Name)
		}
		row := newRow(&part)
		if err := d.taken(row, &l, gate.ScopeSession); err != nil {
			return err
		}
		if l.Same && (l.Info.Writer == "" || l.Info.Writer == d.database.Writer()) {
			row.written = 1
		}
		e.row = row
		e.owner, e.ended, e.new = l.Info.Owner, l.Info.Ended, false
		e.others = l.Processes
		e.info.Since, e.info.Lasting = l.Info.Since, l.Info.Writer == ""
		state = l.State
	case e.new && (e.row == nil || e.row.durable.Load() == 0):
		policy := d.codec.Policy()
		state = policy.NewState(d.active)
		state.Apply(policy.Tick(state, e.info.Since))
		e.row, e.owner, e.others = newRow(&part), owner(), nil
		state.Owners[gate.ScopePrincipal], state.Owners[gate.ScopeGlobal] = e.owner, e.owner
	default:
		d.forget(e)
		return admission.ErrNoSession
	}
	e.stillAsk(state)
	e.state = state
	return nil
}

// stillAsk makes the calls that wait for a person wait in the state as it is now: they do
// so in this process alone.
func (e *entry) stillAsk(now *gate.State) {
	if e.state == nil {
		e.asks = nil
	}
	for number, s := range e.asks {
		ask := e.state.Asks[number]
		if ask == nil || !s.over() || s.err != nil {
			delete(e.asks, number)
			continue
		}
		now.Apply(&gate.Delta{Asked: ask})
	}
}

// readPart is [Durable.read] of what the session shares. The first session that shares it
// starts its clocks.
func (d *Durable) readPart(ctx context.Context, p *part, e *entry) error {
	if p.row != nil && p.row.faulty() == nil {
		return nil
	}
	id := backend.PartID{Scope: backend.Global}
	if p.scope == gate.ScopePrincipal {
		id = backend.PartID{Scope: backend.Principal, Name: p.name}
	}
	parts, err := d.database.Load(ctx, id)
	if err != nil {
		return d.fault(err)
	}
	part := parts[0]
	r := newRow(&part)
	if part.Version == 0 {
		policy := d.codec.Policy()
		s := policy.NewState(d.active)
		s.Apply(policy.Tick(s, e.info.Since))
		p.take(s)
	} else {
		l, err := d.codec.Shared(p.scope, p.name, part.Data, part.Values)
		if err != nil {
			return err
		}
		if err := d.taken(r, &l, p.scope); err != nil {
			return err
		}
		p.take(l.State)
		if l.Same {
			r.written = 1
		}
	}
	p.row = r
	return nil
}

// taken notes what is to be written of a part that was taken over from another policy. Its
// error is [admission.ErrHeld] where a net is not replaced.
func (d *Durable) taken(r *row, l *statecode.Loaded, scope gate.Scope) error {
	if r.gone = l.Gone; l.Anew {
		for i, n := range d.codec.Policy().Nets() {
			if n.Scope == scope {
				r.spoilAll(i, l.State.Nets[i].Values)
			}
		}
	}
	for _, k := range l.Kept {
		if k.Fate == gate.Held {
			return fmt.Errorf("%w: net '%s' of %s %q was written under another policy; put that in force again until its calls have ended, or begin it anew: petrigate reload --reset-net %s",
				admission.ErrHeld, k.Net, r.id.Scope, r.id.Name, k.Net)
		}
		if k.Lost {
			d.log.Warn("the state of a net is not taken over: the policy has changed", "part", r.id.Scope, "name", r.id.Name, "net", k.Net)
		}
	}
	return nil
}

// glance is what a decision that changes nothing has read. It implements admission.Commit:
// waiting is finding out that it was the newest.
type glance struct {
	ledger *Durable
	seen   []sight
}

type sight struct {
	row     *row
	version int64
	last    *queued // by which it became so; nil: that ended before
}

// glance needs the locks of the session.
func (d *Durable) glance(e *entry) *glance {
	g := &glance{ledger: d, seen: make([]sight, 0, 1+len(e.parts))}
	for _, r := range e.addRows(nil) {
		if r.id.Name == "" && r.id.Scope == backend.Session {
			continue // nobody else knows it
		}
		s := sight{row: r, version: r.version}
		if r.pending() {
			s.last = r.last
		}
		g.seen = append(g.seen, s)
	}
	return g
}

// Wait implements [admission.Commit].
func (g *glance) Wait(ctx context.Context) error {
	ids := make([]backend.PartID, len(g.seen))
	for i := range g.seen {
		s := &g.seen[i]
		if ids[i] = s.row.id; s.last != nil {
			_ = s.last.Wait(ctx)
		}
		if s.row.faulty() != nil {
			return admission.ErrStale
		}
	}
	now, err := g.ledger.database.Versions(ctx, ids...)
	if err != nil {
		return g.ledger.fault(err)
	}
	for i := range g.seen {
		// A step of this process that was committed since says that it was the newest.
		if s := &g.seen[i]; s.row.durable.Load() <= s.version && now[i] != s.version && !g.moved(s) {
			s.row.drop(admission.ErrStale)
			return admission.ErrStale
		}
	}
	return nil
}

// moved waits for what this process may have committed meanwhile, and reports whether it has.
func (g *glance) moved(s *sight) bool {
	g.ledger.drain()
	return s.row.faulty() == nil && s.row.durable.Load() > s.version
}

// View implements [admission.Ledger].
func (d *Durable) View(ctx context.Context, k admission.Key, f func(*gate.State)) error {
	for range 3 { // others may be faster again and again; then it is the state of a moment
		var seen *glance
		if err := d.look(ctx, k, func(e *entry) { seen = d.glance(e) }); err != nil {
			return err
		}
		if !errors.Is(seen.Wait(ctx), admission.ErrStale) {
			break
		}
	}
	return d.look(ctx, k, func(e *entry) { f(e.state) })
}

// described describes a session that this process serves, as the database has it: another
// process may have ended it.
func (d *Durable) described(ctx context.Context, k admission.Key) (info admission.SessionInfo, err error) {
	for range 3 {
		var seen *glance
		err := d.look(ctx, k, func(e *entry) {
			seen, info = d.glance(e), e.info
			info.Ended = e.ended
		})
		if err != nil {
			return info, err
		}
		if !errors.Is(seen.Wait(ctx), admission.ErrStale) {
			break
		}
	}
	return info, nil
}

// look runs f under the locks of a session, which it leaves as it is.
func (d *Durable) look(ctx context.Context, k admission.Key, f func(*entry)) error {
	see := func(e *entry) (*queued, error) {
		f(e)
		return nil, nil
	}
	var err error
	if k.Session != "" {
		_, err = d.attempt(ctx, k, see)
	} else {
		d.stay()
		defer d.move()
		_, err = d.under(ctx, d.fresh(k), see)
	}
	return err
}
