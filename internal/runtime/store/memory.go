package store

import (
	"context"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/audit"
)

// Approvals are the consents that calls use up, as the approval.Broker keeps them.
type Approvals interface {
	Claim(id string) error // for one call; nobody else has it until it is consumed or given back
	Consume(id string)
	Unclaim(id string)
}

// Memory is a ledger that ends with the process. Records go to a recorder.
//
// A step locks its session, then what the session shares with its principal,
// then what all share, and only what the policy has nets for. Its records are queued
// under these locks, so that they are in the order of the steps; where they cannot be
// written, all steps of the queue are undone, the last first.
type Memory struct {
	approvals Approvals
	recorder  *audit.Recorder

	mu         sync.RWMutex // not needed for what an entry and a part guard
	policy     *gate.Policy
	active     []string
	sessions   map[string]*entry
	principals map[string]*part
	global     *part
	lingering  []string // sessions that ended with calls open, the oldest first

	steps sync.Pool // that were waited for
}

// maxLingering bounds the sessions that are kept for calls whose outcome may never
// be known.
const maxLingering = 10_000

var _ admission.Ledger = (*Memory)(nil)

// NewMemory returns a ledger of states of p, in which the named nets are active,
// all if active is nil. Approvals may be nil where no call asks for one.
func NewMemory(p *gate.Policy, active []string, approvals Approvals, recorder *audit.Recorder) *Memory {
	return &Memory{
		approvals: approvals, recorder: recorder, policy: p, active: active,
		sessions: map[string]*entry{}, principals: map[string]*part{}, global: newPart(p, gate.ScopeGlobal, active),
	}
}

// Open implements [admission.Ledger].
func (m *Memory) Open(_ context.Context, s admission.SessionInfo) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.sessions[s.Session] != nil {
		return nil
	}
	e := &entry{info: s, state: m.policy.NewState(m.active)}
	e.state.Apply(m.policy.Tick(e.state, s.Since))
	m.join(e, s.Since)
	m.sessions[s.Session] = e
	return nil
}

// Find implements [admission.Ledger].
func (m *Memory) Find(_ context.Context, session string) (admission.SessionInfo, error) {
	if e := m.entry(admission.Key{Session: session}); e != nil {
		return e.info, nil
	}
	return admission.SessionInfo{}, admission.ErrNoSession
}

// Touch implements [admission.Ledger]: no other process asks.
func (m *Memory) Touch(context.Context, admission.Key, time.Time) error { return nil }

// join gives the session the parts that it shares. The first session that shares
// a part starts its clocks at since. It needs the lock.
func (m *Memory) join(e *entry, since time.Time) {
	e.parts = nil
	for _, p := range [...]*part{m.shared(e.info.Principal), m.global} {
		if len(p.nets) > 0 {
			e.parts = append(e.parts, p)
			if e.state.Owners[p.scope] == 0 {
				e.state.Owners[p.scope] = p.join(m.policy, since)
			}
		}
	}
}

// shared is the part of a principal. It needs the lock.
func (m *Memory) shared(principal string) *part {
	p := m.principals[principal]
	if p == nil {
		p = newPart(m.policy, gate.ScopePrincipal, m.active)
		if len(p.nets) > 0 {
			m.principals[principal] = p
		}
	}
	return p
}

// End implements [admission.Ledger].
func (m *Memory) End(_ context.Context, k admission.Key) error {
	e := m.entry(k)
	if e == nil {
		return admission.ErrNoSession
	}
	_ = m.recorder.Flush() // what is undone is open again
	if over := e.end(); over != nil {
		m.forget(over)
	} else {
		m.linger(k.Session)
	}
	return nil
}

// linger keeps a session that has ended for the calls of it that are open.
func (m *Memory) linger(session string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.lingering = append(m.lingering, session); len(m.lingering) > maxLingering {
		delete(m.sessions, m.lingering[0])
		m.lingering = m.lingering[1:]
	}
}

// forget drops a session that is over; nil: none is.
func (m *Memory) forget(e *entry) {
	if e != nil {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.sessions, e.info.Session)
	}
}

func (m *Memory) entry(k admission.Key) *entry {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.sessions[k.Session]
}

// View implements [admission.Ledger].
func (m *Memory) View(_ context.Context, k admission.Key, f func(*gate.State)) error {
	e := m.entry(k)
	if k.Session == "" {
		e = m.fresh(k)
	}
	if e == nil {
		return admission.ErrNoSession
	}
	e.lock()
	defer e.unlock()
	f(e.state)
	return nil
}

// fresh is a session that nobody else knows.
func (m *Memory) fresh(k admission.Key) *entry {
	m.mu.RLock()
	defer m.mu.RUnlock()
	e := &entry{info: admission.SessionInfo{Key: k}, state: m.policy.NewState(m.active)}
	for _, p := range [...]*part{m.principals[k.Principal], m.global} {
		if p != nil && len(p.nets) > 0 {
			e.parts = append(e.parts, p)
		}
	}
	return e
}

// Sessions implements [admission.Ledger].
func (m *Memory) Sessions(context.Context) iter.Seq2[admission.SessionInfo, error] {
	m.mu.RLock()
	list := make([]admission.SessionInfo, 0, len(m.sessions))
	for _, e := range m.sessions {
		list = append(list, e.info)
	}
	m.mu.RUnlock()
	slices.SortFunc(list, func(a, b admission.SessionInfo) int { return a.Since.Compare(b.Since) })
	return func(yield func(admission.SessionInfo, error) bool) {
		for _, s := range list {
			if !yield(s, nil) {
				return
			}
		}
	}
}

// Records implements [admission.Ledger].
func (m *Memory) Records() bool { return m.recorder.Active() }

// Ready implements [admission.Ledger].
func (m *Memory) Ready() error { return m.recorder.Ready() }

// Adopt implements [admission.Ledger]. It stops every update meanwhile.
func (m *Memory) Adopt(_ context.Context, a admission.Adoption) ([]admission.Adopted, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for m.lockAll(); m.recorder.Undoes(); m.lockAll() {
		m.unlockAll() // for what may have to be undone; nothing else is staged
		_ = m.recorder.Flush()
	}
	defer m.unlockAll()
	next := m.successor(a)
	if slices.ContainsFunc(next.report, admission.Adopted.Held) {
		return next.report, admission.ErrHeld
	}
	if a.Try {
		return next.report, nil
	}
	if err := m.recorder.Write(a.Events...); err != nil {
		return nil, err
	}
	m.policy, m.active, m.global, m.principals = a.Policy, a.Active, next.global, next.principals
	for e, state := range next.states {
		e.state = state
		m.join(e, time.Time{})
	}
	return next.report, nil
}

// lockAll locks all sessions, which nobody else does with two. It needs the lock.
func (m *Memory) lockAll() {
	for _, e := range m.sessions {
		e.hold()
	}
}

func (m *Memory) unlockAll() {
	for _, e := range m.sessions {
		e.release()
	}
}
