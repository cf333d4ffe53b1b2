package audit

import (
	"errors"
	"slices"
	"sync"
)

// Limits on waiting records, and on memory kept for reuse.
const (
	maxStaged = 1024 // steps in a batch; at this size, a new caller first stores the batch
	maxKept   = 16 << 10
)

// A Staged holds the records of one step until they are stored. The zero value is empty.
type Staged struct {
	queue   *queue
	records []byte
	ends    []int // end offset of each record
	few     [2]int
	undo    func()
	batch   *batch // nil: nothing to wait for
	err     error  // set once the batch has ended
}

// A queue stores steps in order, using group commit: the first waiter (the leader) stores all steps
// that have arrived. It then wakes one waiter of the next batch, which becomes the leader.
type queue struct {
	store func(records [][]byte) (int, error)

	mu      sync.Mutex
	open    *batch // batch that accepts new steps
	busy    bool   // a batch is being stored
	failing error  // set while steps are undone; new steps are refused with it
	undo    int    // number of steps with an undo function

	gathered [][]byte // buffer of the leader
}

// A batch is a group of steps that are stored together.
type batch struct {
	steps   []*Staged
	few     [2]*Staged
	over    bool
	waiting int
	wake    chan struct{} // nil: no waiters. A value makes its receiver the leader; closing ends the waits
}

func newQueue(store func(records [][]byte) (int, error)) *queue {
	return &queue{store: store, open: &batch{}}
}

// push adds a step. A step without records only waits for those before it.
func (q *queue) push(s *Staged) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.failing != nil:
		return q.failing
	case len(s.ends) == 0 && !q.busy && len(q.open.steps) == 0:
		return nil
	}
	s.queue, s.batch = q, q.open
	q.open.steps = append(q.open.steps, s)
	if s.undo != nil {
		q.undo++
	}
	return nil
}

func (q *queue) hasUndo() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.undo > 0
}

// full returns the open batch if it has so many steps that the caller must wait for it, or nil.
func (q *queue) full() *batch {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.open.steps) >= maxStaged {
		return q.open
	}
	return nil
}

// Reset empties s and keeps its memory for reuse. It must be called only after Wait.
func (s *Staged) Reset() {
	*s = Staged{records: s.records[:0]}
	if cap(s.records) > maxKept {
		s.records = nil
	}
}

// Over reports whether there is nothing to wait for.
func (s *Staged) Over() bool { return s.batch == nil }

// Wait returns nil once the records are stored. If it returns an error, they are not stored and the
// step has been undone. Afterwards the queue does not use s any more.
func (s *Staged) Wait() error {
	if s.batch == nil {
		return nil
	}
	s.batch.wait(s.queue)
	return s.err
}

// wait returns once the batch has ended.
func (b *batch) wait(q *queue) {
	if b.join(q) {
		q.lead()
	}
}

// join returns false once the batch has ended, or true if the caller must store it.
func (b *batch) join(q *queue) (leads bool) {
	q.mu.Lock()
	switch {
	case b.over:
		q.mu.Unlock()
		return false
	case !q.busy: // then b is the open batch
		q.busy = true
		q.mu.Unlock()
		return true
	case b.wake == nil:
		b.wake = make(chan struct{}, 1)
	}
	b.waiting++
	q.mu.Unlock()
	_, leads = <-b.wake
	return leads
}

// lead stores the open batch for all its waiters.
func (q *queue) lead() {
	b := q.nextBatch()
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
	n, err = q.store(records)
	clear(records)
}

// nextBatch returns the open batch and starts a new one.
func (q *queue) nextBatch() *batch {
	q.mu.Lock()
	defer q.mu.Unlock()
	b := q.open
	q.open = &batch{}
	q.open.steps = slices.Grow(q.open.few[:0], len(b.steps))
	return b
}

// end ends a batch whose first n records are stored. After an error, the steps with other records
// are undone, and so are all steps that were staged after them.
func (q *queue) end(b *batch, n int, err error) {
	over := []*batch{b}
	if err != nil {
		over = append(over, q.fail(err))
		var steps []*Staged
		for _, s := range slices.Concat(b.steps, over[1].steps) {
			if n -= len(s.ends); n < 0 || len(steps) > 0 {
				steps = append(steps, s)
			}
		}
		for _, s := range slices.Backward(steps) {
			if s.err = err; s.undo != nil {
				s.undo()
			}
		}
	}
	q.finish(over)
}

// fail makes the queue refuse steps until [queue.finish], and returns the open batch.
func (q *queue) fail(err error) *batch {
	q.mu.Lock()
	defer q.mu.Unlock()
	b := q.open
	q.failing, q.open = err, &batch{}
	return b
}

// finish wakes the waiters of the batches that have ended, and makes one waiter of the next batch
// its leader.
func (q *queue) finish(over []*batch) {
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
		q.open.wake <- struct{}{} // does not block: the channel is buffered
	}
}
