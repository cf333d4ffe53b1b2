package store

import (
	"context"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/audit"
)

// step is a change to a session of a [Memory], with its queued records. It implements
// admission.Commit.
type step struct {
	memory   *Memory
	entry    *entry // nil if the step changes no session
	staged   audit.Staged
	before   savedState
	uses     string // ID of the approval that the step uses up
	finished *entry // the session if this is its last step, otherwise nil
	revert   func() // the method value s.undo, stored to allocate it only once
}

// newStep returns a step for a session, or for no session if e is nil.
func (m *Memory) newStep(e *entry) *step {
	s, ok := m.steps.Get().(*step)
	if !ok {
		s = &step{}
		s.revert = s.undo
	}
	s.memory, s.entry = m, e
	return s
}

// Stage implements [admission.Ledger]. The commit waits until the step's records have been written.
// It is nil if there is nothing to wait for, for example because Memory keeps no records.
func (m *Memory) Stage(_ context.Context, k admission.Key, f func(*gate.State) (admission.Change, error)) (admission.Commit, error) {
	records := m.recorder.Active()
	if records {
		m.recorder.AwaitRoom()
	}
	s, over, err := m.stage(k, f, records)
	if over != nil {
		m.forget(over)
	}
	if s == nil || err != nil {
		return nil, err
	}
	if s.staged.Over() {
		return nil, s.Wait(context.Background())
	}
	return s, nil
}

// stage applies a change to a session. If records is true, stage also queues the records of the
// change and returns a step that waits until they are written. If the session has ended and the
// change leaves it without open calls, stage also returns the session, and the caller must remove
// it.
func (m *Memory) stage(k admission.Key, f func(*gate.State) (admission.Change, error), records bool) (s *step, over *entry, err error) {
	e := m.entry(k)
	if e == nil {
		return nil, nil, admission.ErrNoSession
	}
	e.lockWithParts()
	defer e.unlockWithParts()
	change, err := f(e.state)
	if err != nil {
		return nil, nil, err
	}
	if records {
		s = m.newStep(e)
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
	return nil, e.ifFinished(), nil
}

// apply applies the change and queues its records. The caller must hold the locks of the session
// and of its shared nets.
func (s *step) apply(d *gate.Delta) error {
	state := s.entry.state
	s.before.save(state, d)
	state.Apply(d)
	s.finished = s.entry.ifFinished()
	err := s.memory.recorder.Stage(&s.staged, s.revert)
	if err != nil {
		s.restore()
	}
	return err
}

// undo reverts a step whose records could not be written. The recorder has already undone all later
// steps.
func (s *step) undo() {
	s.entry.lockWithParts()
	defer s.entry.unlockWithParts()
	s.restore()
}

// restore reverts the step. The caller must hold the locks of the session and of its shared nets.
func (s *step) restore() {
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
	m := s.memory
	if s.finished != nil {
		m.forget(s.finished)
	}
	*s = step{revert: s.revert, staged: s.staged} // keep the memory for reuse
	m.steps.Put(s)
	return nil
}

// Append implements [admission.Ledger].
func (m *Memory) Append(_ context.Context, events ...audit.Event) (admission.Commit, error) {
	if !m.recorder.Active() {
		return nil, nil
	}
	m.recorder.AwaitRoom()
	s := m.newStep(nil)
	if err := m.recorder.Prepare(&s.staged, events...); err != nil {
		return nil, err
	}
	if err := m.recorder.Stage(&s.staged, nil); err != nil {
		return nil, err
	}
	return s, nil
}
