package audit

import (
	"errors"
	"slices"
	"sync"
)

// Limits on waiting steps and on memory kept for reuse.
const (
	maxStaged = 1024 // number of steps that fill a batch; see [queue.AwaitRoom]
	maxKept   = 16 << 10
)

// Staged holds the encoded records of one step until they have been stored. A step is a group of
// records that belong together: it fails unless all of them are stored. The zero value is empty.
type Staged struct {
	queue   *queue
	records []byte
	ends    []int // end offset of each record in records
	few     [2]int
	undo    func()
	batch   *batch // nil if there is nothing to wait for
	err     error  // why the step failed; set when the batch has ended
}

// A queue stores steps in order, several at a time (group commit). The first waiter becomes the
// leader and stores all steps that have arrived. It then wakes a waiter of the next batch, which
// becomes the new leader.
type queue struct {
	storeAll func(records [][]byte) (int, error)

	mu      sync.Mutex
	open    *batch // batch that accepts new steps
	busy    bool   // whether a batch is being stored
	failing error  // error that Stage returns while steps are being undone; otherwise nil
	undo    int    // number of steps with an undo function

	gathered [][]byte // the leader's buffer, for the records of a batch
}

// A batch is a group of steps that are stored together.
type batch struct {
	steps   []*Staged
	few     [2]*Staged
	over    bool
	waiting int
	wake    chan struct{} // nil until there is a waiter; a value sent to it makes one waiter the leader; closing it wakes all waiters
}

// Stage adds s to the queue, after all steps staged earlier. s holds the records to store. A step
// without records only waits for earlier steps.
//
// If the records of s or of an earlier step cannot be stored, the queue calls undo. Later steps are
// undone first. undo may be nil, and must not stage records. If Stage returns an error, it wraps
// [ErrUnrecorded], and undo is not called.
func (q *queue) Stage(s *Staged, undo func()) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.failing != nil:
		return q.failing
	case len(s.ends) == 0 && !q.busy && len(q.open.steps) == 0:
		return nil
	}
	s.queue, s.batch, s.undo = q, q.open, undo
	q.open.steps = append(q.open.steps, s)
	if undo != nil {
		q.undo++
	}
	return nil
}

// AwaitRoom stores the waiting steps if they fill a batch. Callers that stage many steps call it
// before Stage, so that the queue does not grow without limit. They must not hold any lock that an
// undo function acquires.
func (q *queue) AwaitRoom() {
	q.mu.Lock()
	full := len(q.open.steps) >= maxStaged
	q.mu.Unlock()
	if full {
		_ = q.Flush()
	}
}

// Undoes reports whether any waiting step has an undo function.
func (q *queue) Undoes() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.undo > 0
}

// Flush waits until all records staged before the call have been stored.
func (q *queue) Flush() error {
	var s Staged
	if err := q.Stage(&s, nil); err != nil {
		return err
	}
	return s.Wait()
}

// Over reports whether s has nothing left to wait for.
func (s *Staged) Over() bool { return s.batch == nil }

// Wait waits until the records have been stored. If it returns an error, they have not been stored
// and the step has been undone. In either case s is then empty and can be reused.
func (s *Staged) Wait() error {
	if s.Over() {
		return nil
	}
	q, b := s.queue, s.batch
	q.mu.Lock()
	switch {
	case b.over:
		q.mu.Unlock()
	case !q.busy: // no batch is being stored, so b is still open
		q.busy = true
		q.mu.Unlock()
		q.lead()
	default:
		if b.wake == nil {
			b.wake = make(chan struct{}, 1)
		}
		b.waiting++
		q.mu.Unlock()
		if _, leads := <-b.wake; leads {
			q.lead()
		}
	}
	err := s.err
	*s = Staged{records: s.records[:0]} // keep the memory for reuse
	if cap(s.records) > maxKept {
		s.records = nil
	}
	return err
}

// lead opens a new batch and stores the previously open one for all of its waiters.
func (q *queue) lead() {
	q.mu.Lock()
	b := q.open
	q.open = &batch{}
	q.open.steps = slices.Grow(q.open.few[:0], len(b.steps))
	q.mu.Unlock()
	n, err := 0, errors.New("storing records panicked")
	defer func() { q.end(b, n, err) }()
	records := q.gathered[:0]
	for _, s := range b.steps {
		from := 0
		for _, end := range s.ends {
			records = append(records, s.records[from:end])
			from = end
		}
	}
	q.gathered = records
	n, err = q.storeAll(records)
	clear(records)
}

// end ends batch b, whose first n records have been stored. It wakes the batch's waiters, and makes
// one waiter of the open batch the leader.
func (q *queue) end(b *batch, n int, err error) {
	over := []*batch{b}
	if err != nil {
		over = append(over, q.fail(b, n, err))
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, b := range over {
		b.over = true
		for _, s := range b.steps {
			if s.undo != nil {
				q.undo--
			}
		}
		b.steps = nil
		if b.wake != nil {
			close(b.wake)
		}
	}
	q.failing = nil
	if q.busy = q.open.waiting > 0; q.busy {
		q.open.wake <- struct{}{} // cannot block, because the channel is buffered
	}
}

// fail undoes the steps of b that are not completely stored, given that only b's first n records
// have been stored. It also undoes all steps staged after b, and returns the batch that contains
// them. The queue refuses new steps until [queue.end] has ended both batches.
func (q *queue) fail(b *batch, n int, err error) (later *batch) {
	q.mu.Lock()
	later = q.open
	q.failing, q.open = err, &batch{}
	q.mu.Unlock()
	var steps []*Staged
	for _, s := range slices.Concat(b.steps, later.steps) {
		if n -= len(s.ends); n < 0 || len(steps) > 0 {
			steps = append(steps, s)
		}
	}
	for _, s := range slices.Backward(steps) {
		if s.err = err; s.undo != nil {
			s.undo()
		}
	}
	return later
}
