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

// Approvals manages the approvals that calls use up. approval.Broker implements it.
type Approvals interface {
	Claim(id string) error // reserves the approval for one call, until Consume or Unclaim is called
	Consume(id string)
	Unclaim(id string)
}

// Memory is an [admission.Ledger] that keeps all states in this process. It passes its audit
// records to an [audit.Recorder].
//
// A step (a change to a session) locks the session, then the nets that the principal's sessions
// share, and then the nets that all sessions share. The step queues its records under these locks,
// so the records are in the order of the steps. If the records cannot be written, all queued steps
// are undone in reverse order.
type Memory struct {
	approvals Approvals
	recorder  *audit.Recorder

	mu         sync.RWMutex // guards the fields below, but not the states of sessions and shared nets
	policy     *gate.Policy
	active     []string
	sessions   map[string]*entry
	principals map[string]*part
	global     *part
	lingering  []*entry // ended sessions with open calls, oldest first

	steps sync.Pool // reusable steps
}

// maxLingering is the maximum number of ended sessions that are kept because they have open calls.
// Without this limit, a session would be kept forever if one of its calls never ends.
const maxLingering = 10_000

var _ admission.Ledger = (*Memory)(nil)

// NewMemory returns a ledger with the nets of p in their initial states. If active is not nil, only
// the nets that it lists are active. If no call needs approval, approvals may be nil.
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
	m.attachParts(e, s.Since)
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

// Touch implements [admission.Ledger]. It does nothing, because no other process uses the ledger.
func (m *Memory) Touch(context.Context, admission.Key, time.Time) error { return nil }

// attachParts sets e.parts to the parts of the state that the session shares with others. The first
// session that uses a part starts the part's clocks at the given time. The caller must hold the
// ledger lock.
func (m *Memory) attachParts(e *entry, since time.Time) {
	e.parts = nil
	own := m.principals[e.info.Principal]
	if own == nil {
		own = newPart(m.policy, gate.ScopePrincipal, m.active)
		if len(own.nets) > 0 {
			m.principals[e.info.Principal] = own
		}
	}
	for _, p := range [...]*part{own, m.global} {
		if len(p.nets) > 0 {
			e.parts = append(e.parts, p)
			if e.state.Owners[p.scope] == 0 {
				e.state.Owners[p.scope] = p.addSession(m.policy, since)
			}
		}
	}
}

// End implements [admission.Ledger].
func (m *Memory) End(_ context.Context, k admission.Key) error {
	e := m.entry(k)
	if e == nil {
		return admission.ErrNoSession
	}
	_ = m.recorder.Flush() // flush first, because a failed flush undoes steps and may reopen calls
	if over := e.markEnded(); over != nil {
		m.forget(over)
	} else {
		m.linger(e)
	}
	return nil
}

// linger keeps an ended session in memory, because it still has open calls. If there are too many
// such sessions, linger drops the oldest.
func (m *Memory) linger(e *entry) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if slices.Contains(m.lingering, e) {
		return
	}
	if m.lingering = append(m.lingering, e); len(m.lingering) > maxLingering {
		delete(m.sessions, m.lingering[0].info.Session)
		m.lingering = m.lingering[1:]
	}
}

// forget removes a finished session.
func (m *Memory) forget(e *entry) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.sessions, e.info.Session)
	if i := slices.Index(m.lingering, e); i >= 0 {
		m.lingering = slices.Delete(m.lingering, i, i+1)
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
		e = m.newSession(k)
	}
	if e == nil {
		return admission.ErrNoSession
	}
	e.lockWithParts()
	defer e.unlockWithParts()
	f(e.state)
	return nil
}

// newSession returns a new session of the principal without adding it to the ledger.
func (m *Memory) newSession(k admission.Key) *entry {
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

// Adopt implements [admission.Ledger]. It blocks all steps while it runs.
func (m *Memory) Adopt(_ context.Context, a admission.Adoption) ([]admission.Adopted, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for m.lockAll(); m.recorder.Undoes(); m.lockAll() {
		m.unlockAll() // unlock the sessions so that the recorder can undo steps; the ledger lock prevents new steps
		_ = m.recorder.Flush()
	}
	defer m.unlockAll()
	next := m.convert(a)
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
		m.attachParts(e, time.Time{})
	}
	return next.report, nil
}

// lockAll locks all sessions. Their order does not matter, because no other code locks two sessions
// at once. The caller must hold the ledger lock.
func (m *Memory) lockAll() {
	for _, e := range m.sessions {
		e.lockSession()
	}
}

func (m *Memory) unlockAll() {
	for _, e := range m.sessions {
		e.unlockSession()
	}
}

// successor holds a [Memory]'s states, converted to another policy.
type successor struct {
	states     map[*entry]*gate.State
	principals map[string]*part
	global     *part
	report     adoptionReport
}

// convert returns all states, converted to the adopted policy. The caller must hold the lock of the
// ledger and of every session.
func (m *Memory) convert(a admission.Adoption) *successor {
	next := &successor{states: map[*entry]*gate.State{}, principals: map[string]*part{}}
	var kept []gate.Kept
	next.global, kept = m.global.adopt(m.policy, a)
	next.report.add(admission.Key{}, kept)
	for principal, old := range m.principals {
		next.principals[principal], kept = old.adopt(m.policy, a)
		next.report.add(admission.Key{Principal: principal}, kept)
	}
	for _, e := range m.sessions {
		state, kept := a.Policy.Adopt(e.state, adoptOptions(a))
		next.states[e] = state
		next.report.add(e.info.Key, filterScope(kept, e.state, state, gate.ScopeSession))
	}
	slices.SortFunc(next.report, compareAdopted)
	return next
}
