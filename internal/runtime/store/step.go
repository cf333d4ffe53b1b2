package store

import (
	"context"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/audit"
)

// A step is a change of a session whose records are on their way.
type step struct {
	memory *Memory
	entry  *entry // nil: no session changes
	staged audit.Staged
	before before
	uses   string // id of the approval that it claims
	over   *entry // the session, where this is its last step
	revert func() // undo
}

// step returns a step of a session; nil: of none.
func (m *Memory) step(e *entry) *step {
	s, ok := m.steps.Get().(*step)
	if !ok {
		s = &step{}
		s.revert = s.undo
	}
	s.memory, s.entry = m, e
	return s
}

// release keeps the memory of a step, of which nobody knows any more, for another.
func (s *step) release() {
	m := s.memory
	s.staged.Reset()
	*s = step{revert: s.revert, staged: s.staged}
	m.steps.Put(s)
}

// Stage implements [admission.Ledger]. A step waits for its records; without a recorder
// none does.
func (m *Memory) Stage(_ context.Context, k admission.Key, f func(*gate.State) (admission.Change, error)) (admission.Commit, error) {
	records := m.recorder.Active()
	if records {
		m.recorder.AwaitRoom()
	}
	s, over, err := m.stage(k, f, records)
	if s == nil || err != nil {
		m.forget(over)
		return nil, err
	}
	if s.staged.Over() {
		return nil, s.Wait(context.Background())
	}
	return s, nil
}

// stage makes a step, without records at once: then over is the session where it was the
// last one.
func (m *Memory) stage(k admission.Key, f func(*gate.State) (admission.Change, error), records bool) (s *step, over *entry, err error) {
	e := m.entry(k)
	if e == nil {
		return nil, nil, admission.ErrNoSession
	}
	e.lock()
	defer e.unlock()
	change, err := f(e.state)
	if err != nil {
		return nil, nil, err
	}
	if records {
		s = m.step(e)
		s.uses = change.Uses
		err = m.recorder.Prepare(&s.staged, change.Events...)
	}
	if err == nil && change.Uses != "" {
		err = m.approvals.Claim(change.Uses)
	}
	if err != nil {
		return nil, nil, err
	}
	if records {
		return s, nil, s.apply(change.Delta)
	}
	if e.state.Apply(change.Delta); change.Uses != "" {
		m.approvals.Consume(change.Uses)
	}
	return nil, e.ifOver(), nil
}

// apply makes the change and queues its records. It requires the locks of the session.
func (s *step) apply(d *gate.Delta) error {
	state := s.entry.state
	s.before.remember(state, d)
	state.Apply(d)
	s.over = s.entry.ifOver()
	err := s.memory.recorder.Stage(&s.staged, s.revert)
	if err != nil {
		s.takeBack()
	}
	return err
}

// undo takes back a step whose records cannot be written. All that was staged behind it
// is undone already.
func (s *step) undo() {
	s.entry.lock()
	defer s.entry.unlock()
	s.takeBack()
}

// takeBack requires the locks of the session.
func (s *step) takeBack() {
	s.before.restore(s.entry.state)
	if s.uses != "" {
		s.memory.approvals.Unclaim(s.uses)
	}
}

// Wait implements [admission.Commit].
func (s *step) Wait(context.Context) error {
	if err := s.staged.Wait(); err != nil {
		return err
	}
	if s.uses != "" {
		s.memory.approvals.Consume(s.uses)
	}
	s.memory.forget(s.over)
	s.release()
	return nil
}

// Append implements [admission.Ledger].
func (m *Memory) Append(_ context.Context, events ...audit.Event) (admission.Commit, error) {
	if !m.recorder.Active() {
		return nil, nil
	}
	m.recorder.AwaitRoom()
	s := m.step(nil)
	if err := m.recorder.Prepare(&s.staged, events...); err != nil {
		return nil, err
	}
	if err := m.recorder.Stage(&s.staged, nil); err != nil {
		return nil, err
	}
	return s, nil
}
