package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
	"github.com/petrigate/petrigate/internal/runtime/store/statecode"
)

// errEvicted means that the cache has replaced the entry and the caller must retry.
var errEvicted = errors.New("the cache has replaced this entry")

// withSession loads the session if necessary, and runs f while the session and the nets that it
// shares with others are locked.
func (d *Durable) withSession(ctx context.Context, k admission.Key, f func(*entry) (*queuedStep, error)) (*queuedStep, error) {
	d.lockPolicy()
	defer d.unlockPolicy()
	d.staging.Add(1)
	defer d.staging.Add(-1)
	for {
		e, err := d.entry(ctx, k)
		if err != nil {
			return nil, err
		}
		s, err := d.withEntry(ctx, e, f)
		if err != errEvicted { //nolint:errorlint // this error is never wrapped
			return s, err
		}
	}
}

// withEntry runs f while the session and the nets that it shares with others are locked. f sees the
// newest state known to this process: the state in the database plus the steps in the queue.
func (d *Durable) withEntry(ctx context.Context, e *entry, f func(*entry) (*queuedStep, error)) (*queuedStep, error) {
	if d.queue.full() {
		d.drain()
	}
	e.lockSession()
	defer e.unlockSession()
	if e.evicted {
		return nil, errEvicted
	}
	if err := d.refresh(ctx, e); err != nil {
		return nil, err
	}
	for _, p := range e.parts {
		p.lockNets()
		defer p.unlockNets() //nolint:gocritic // unlock all parts when f has returned
		if err := d.refreshPart(ctx, p, e); err != nil {
			return nil, err
		}
		p.copyInto(e.state)
	}
	s, err := f(e)
	for _, p := range e.parts {
		p.copyFrom(e.state)
	}
	if err == nil && e.ifFinished() != nil {
		d.forget(e)
	}
	return s, err
}

// describe decodes the description of a stored session.
func (d *Durable) describe(p *backend.Part) (admission.SessionInfo, error) {
	i, calls, err := statecode.ReadOpen(p.ID.Name, p.Data)
	if err != nil {
		return admission.SessionInfo{}, err
	}
	s := admission.SessionInfo{
		Key: admission.Key{Session: p.ID.Name, Principal: i.Principal}, Since: i.Since, Lasting: i.Writer == "", Ended: i.Ended, Open: i.Open, Used: p.Changed,
	}
	if i.About != "" {
		s.About = []byte(i.About)
	}
	if i.Writer != "" && i.Writer != d.database.Writer() {
		s.Process, s.Gone = i.Writer, d.presence.hasEnded(i.Writer)
	}
	s.Calls = list.Map(calls, func(c statecode.OpenCall) admission.OpenCall {
		return admission.OpenCall{Number: c.Number, Tool: c.Tool, Since: c.Since, Unknown: c.Unknown || d.presence.admitterEnded(c.Process), More: c.More}
	})
	return s, nil
}

// findStored reads a session's description from the database.
func (d *Durable) findStored(ctx context.Context, session string) (admission.SessionInfo, error) {
	parts, err := d.database.Load(ctx, sessionID(session))
	if err != nil {
		return admission.SessionInfo{}, err
	}
	if parts[0].Version == 0 {
		return admission.SessionInfo{}, admission.ErrNoSession
	}
	return d.describe(&parts[0])
}

// entry returns the session from the cache, or loads its description from the database.
func (d *Durable) entry(ctx context.Context, k admission.Key) (*entry, error) {
	if e := d.lookup(k.Session); e != nil {
		return e, nil
	}
	info, err := d.findStored(ctx, k.Session)
	if err != nil {
		return nil, err
	}
	e, created := d.getOrCreate(info)
	if created {
		e.lockSession()
		defer e.unlockSession()
		e.new = false
	}
	return e, nil
}

func sessionID(name string) backend.PartID { return backend.PartID{Scope: backend.Session, Name: name} }

// refresh reads the session from the database if the cached state is not valid. The caller must
// hold the session lock.
func (d *Durable) refresh(ctx context.Context, e *entry) error {
	if e.row != nil && e.row.dropReason() == nil && !e.likelyStale() {
		return nil
	}
	part := backend.Part{ID: sessionID(e.info.Session)}
	if e.info.Session != "" {
		parts, err := d.database.Load(ctx, part.ID)
		if err != nil {
			return d.recordFault(err)
		}
		part = parts[0]
	}
	if e.row != nil {
		e.roams = errors.Is(e.row.dropReason(), admission.ErrStale) || part.Version != e.row.version
	}
	var state *gate.State
	switch {
	case part.Version > 0:
		l, err := d.codec.Session(part.ID.Name, part.Data, part.Values)
		if err != nil {
			return err
		}
		if l.Info.Principal != e.info.Principal {
			return fmt.Errorf("session %q belongs to another principal", part.ID.Name)
		}
		row := newRow(&part)
		if err := d.noteAdopted(row, &l, gate.ScopeSession); err != nil {
			return err
		}
		if l.Same && (l.Info.Writer == "" || l.Info.Writer == d.database.Writer()) {
			row.sinceFull = 1
		}
		e.row = row
		e.owner, e.ended, e.new = l.Info.Owner, l.Info.Ended, false
		e.admittedBy = l.Processes
		e.info.Since, e.info.Lasting = l.Info.Since, l.Info.Writer == ""
		state = l.State
	case e.new && (e.row == nil || e.row.durable.Load() == 0):
		policy := d.codec.Policy()
		state = policy.NewState(d.active)
		state.Apply(policy.Tick(state, e.info.Since))
		e.row, e.owner, e.admittedBy = newRow(&part), randomOwner(), nil
		state.Owners[gate.ScopePrincipal], state.Owners[gate.ScopeGlobal] = e.owner, e.owner
	default:
		d.forget(e)
		return admission.ErrNoSession
	}
	e.carryAsks(state)
	e.state = state
	return nil
}

// carryAsks copies the calls that wait for approval into the new state, because these calls exist
// only in this process. It drops calls that have been answered or could not be committed.
func (e *entry) carryAsks(now *gate.State) {
	if e.state == nil {
		e.asks = nil
	}
	for number, s := range e.asks {
		ask := e.state.Asks[number]
		if ask == nil || !s.isDone() || s.err != nil {
			delete(e.asks, number)
			continue
		}
		now.Apply(&gate.Delta{Asked: ask})
	}
}

// refreshPart is like [Durable.refresh], but for a part of the state that sessions share. If the
// database does not contain the part yet, refreshPart puts all of its nets in their initial states,
// without writing them. The clocks of these nets start at the time when the session began.
func (d *Durable) refreshPart(ctx context.Context, p *part, e *entry) error {
	if p.row != nil && p.row.dropReason() == nil {
		return nil
	}
	id := backend.PartID{Scope: backend.Global}
	if p.scope == gate.ScopePrincipal {
		id = backend.PartID{Scope: backend.Principal, Name: p.name}
	}
	parts, err := d.database.Load(ctx, id)
	if err != nil {
		return d.recordFault(err)
	}
	part := parts[0]
	r := newRow(&part)
	if part.Version == 0 {
		policy := d.codec.Policy()
		s := policy.NewState(d.active)
		s.Apply(policy.Tick(s, e.info.Since))
		p.copyFrom(s)
	} else {
		l, err := d.codec.Shared(p.scope, p.name, part.Data, part.Values)
		if err != nil {
			return err
		}
		if err := d.noteAdopted(r, &l, p.scope); err != nil {
			return err
		}
		p.copyFrom(l.State)
		if l.Same {
			r.sinceFull = 1
		}
	}
	p.row = r
	return nil
}

// noteAdopted must be called after a part of the state is read. If the part was stored under
// another policy, the next write of its row also removes outdated values and, if necessary, writes
// the other values again. If the new policy would lose the state of a hand-written net (a net that
// was not generated from rules), the part must not be used, and noteAdopted returns
// [admission.ErrHeld].
func (d *Durable) noteAdopted(r *row, l *statecode.Loaded, scope gate.Scope) error {
	if r.removed = l.StaleRows; l.RewriteValues {
		for i, n := range d.codec.Policy().Nets() {
			if n.Scope == scope {
				r.markValues(i, l.State.Nets[i].Values)
			}
		}
	}
	for _, k := range l.Kept {
		if k.Fate == gate.Held {
			return fmt.Errorf("%w: net '%s' of %s %q was written under another policy; load that policy again until its calls have ended, or reset the net: petrigate reload --reset-net %s",
				admission.ErrHeld, k.Net, r.id.Scope, r.id.Name, k.Net)
		}
		if k.Lost {
			d.log.Warn("cannot keep a net's state: the policy has changed", "part", r.id.Scope, "name", r.id.Name, "net", k.Net)
		}
	}
	return nil
}

// readCheck is the admission.Commit of a decision that changes nothing. Its Wait method checks that
// the versions read by the decision are still current.
type readCheck struct {
	committer *committer
	seen      []rowRead
}

type rowRead struct {
	row     *row
	version int64
	last    *queuedStep // the step that wrote this version, or nil if the version is committed
}

// newReadCheck returns a readCheck for the current versions of the session's part of the state and
// of the parts that it shares. The caller must hold the locks of the session and of its shared
// nets.
func (d *Durable) newReadCheck(e *entry) *readCheck {
	g := &readCheck{committer: d.committer, seen: make([]rowRead, 0, 1+len(e.parts))}
	for _, r := range e.appendRows(nil) {
		if r.id.Name == "" && r.id.Scope == backend.Session {
			continue // the row is not stored, so other processes cannot change it
		}
		s := rowRead{row: r, version: r.version}
		if r.pending() {
			s.last = r.last
		}
		g.seen = append(g.seen, s)
	}
	return g
}

// Wait implements [admission.Commit].
func (g *readCheck) Wait(ctx context.Context) error {
	ids := make([]backend.PartID, len(g.seen))
	for i := range g.seen {
		s := &g.seen[i]
		if ids[i] = s.row.id; s.last != nil {
			_ = s.last.Wait(ctx)
		}
		if s.row.dropReason() != nil {
			return admission.ErrStale
		}
	}
	now, err := g.committer.database.Versions(ctx, ids...)
	if err != nil {
		return g.committer.recordFault(err)
	}
	for i := range g.seen {
		// If this process has committed a later version, that commit has already checked the
		// version that was read.
		if s := &g.seen[i]; s.row.durable.Load() <= s.version && now[i] != s.version && !g.supersededHere(s) {
			s.row.drop(admission.ErrStale)
			return admission.ErrStale
		}
	}
	return nil
}

// supersededHere reports whether this process has committed a later version of the row. It first
// commits the steps in the queue.
func (g *readCheck) supersededHere(s *rowRead) bool {
	g.committer.drain()
	return s.row.dropReason() == nil && s.row.durable.Load() > s.version
}

// View implements [admission.Ledger].
func (d *Durable) View(ctx context.Context, k admission.Key, f func(*gate.State)) error {
	if err := d.inspectCurrent(ctx, k, func(*entry) {}); err != nil {
		return err
	}
	return d.inspect(ctx, k, func(e *entry) { f(e.state) })
}

// inspectCurrent is like inspect, but runs f again if another process has changed the session in
// the meantime. It gives up without an error after three attempts, or if the check for changes
// fails. The state that f saw may then be slightly out of date.
func (d *Durable) inspectCurrent(ctx context.Context, k admission.Key, f func(*entry)) error {
	for range 3 {
		var seen *readCheck
		err := d.inspect(ctx, k, func(e *entry) {
			seen = d.newReadCheck(e)
			f(e)
		})
		if err != nil || !errors.Is(seen.Wait(ctx), admission.ErrStale) {
			return err
		}
	}
	return nil
}

// inspect runs f while the session and the nets that it shares with others are locked. f must not
// change the session.
func (d *Durable) inspect(ctx context.Context, k admission.Key, f func(*entry)) error {
	see := func(e *entry) (*queuedStep, error) {
		f(e)
		return nil, nil
	}
	var err error
	if k.Session != "" {
		_, err = d.withSession(ctx, k, see)
	} else {
		d.lockPolicy()
		defer d.unlockPolicy()
		_, err = d.withEntry(ctx, d.newSession(k), see)
	}
	return err
}
