package audit

import (
	"errors"
	"slices"
	"sync"
)

// Bounds of what waits to be stored, and of the memory that is kept for reuse.
const (
	maxStaged = 1024 // steps; whoever comes then first stores them
	maxKept   = 16 << 10
)

// A Staged is the records of one step on their way to the storage. The zero value has none.
type Staged struct {
	queue   *queue
	records []byte
	ends    []int // of each of the records
	few     [2]int
	undo    func()
	batch   *batch // nil: nothing is to be waited for
	err     error  // once the batch is over
}

// A queue keeps steps in their order until they are stored. Whoever waits first stores all
// that are there, and then lets one go ahead who waits for those that came meanwhile.
type queue struct {
	store func(records [][]byte) (int, error)

	mu      sync.Mutex
	open    *batch // takes what is staged
	busy    bool   // somebody stores a batch
	failing error  // while steps are undone, no other is taken
	undo    int    // steps that may have to be undone

	gathered [][]byte // of the one who is busy
}

// A batch is steps that are stored together.
type batch struct {
	steps   []*Staged
	few     [2]*Staged
	over    bool
	waiting int
	wake    chan struct{} // nil: nobody waits. A value goes to the one who is to store it; closed: it is over
}

func newQueue(store func(records [][]byte) (int, error)) *queue {
	return &queue{store: store, open: &batch{}}
}

// push takes a step. One without records waits only for those before it.
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

func (q *queue) undoes() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.undo > 0
}

// full returns the batch that takes what is staged, where it has so many steps that it is to
// be waited for.
func (q *queue) full() *batch {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.open.steps) >= maxStaged {
		return q.open
	}
	return nil
}

// Reset makes s the zero value, and keeps memory for other records. It is called when s was
// waited for.
func (s *Staged) Reset() {
	*s = Staged{records: s.records[:0]}
	if cap(s.records) > maxKept {
		s.records = nil
	}
}

// Over reports whether there is nothing to wait for.
func (s *Staged) Over() bool { return s.batch == nil }

// Wait returns nil once the records are stored. After an error they are not, and the step
// is undone. Then nobody has s any more.
func (s *Staged) Wait() error {
	if s.batch == nil {
		return nil
	}
	s.batch.wait(s.queue)
	return s.err
}

// wait returns once the batch is over.
func (b *batch) wait(q *queue) {
	if b.join(q) {
		q.lead()
	}
}

// join returns once the batch is over, or reports true: then the caller has to store it.
func (b *batch) join(q *queue) (leads bool) {
	q.mu.Lock()
	switch {
	case b.over:
		q.mu.Unlock()
		return false
	case !q.busy: // so this is the open one
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

// lead stores what has come, for all who wait for it.
func (q *queue) lead() {
	b := q.take()
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

// take returns what has come, and begins another batch.
func (q *queue) take() *batch {
	q.mu.Lock()
	defer q.mu.Unlock()
	b := q.open
	q.open = &batch{}
	q.open.steps = slices.Grow(q.open.few[:0], len(b.steps))
	return b
}

// end ends a batch of which the first n records are stored. With an error, the steps that
// have others are undone, and so is all that was staged on them.
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

// fail refuses steps until [queue.finish], and returns those that have come.
func (q *queue) fail(err error) *batch {
	q.mu.Lock()
	defer q.mu.Unlock()
	b := q.open
	q.failing, q.open = err, &batch{}
	return b
}

// finish lets those go on who wait for batches that are over, and one who is to store the
// next.
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
		q.open.wake <- struct{}{} // has room
	}
}
