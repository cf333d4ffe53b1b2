package store

import (
	"context"
	"sync"

	"github.com/petrigate/petrigate/internal/serve/admission"
	"github.com/petrigate/petrigate/internal/serve/audit"
	"github.com/petrigate/petrigate/internal/serve/store/backend"
)

// Bounds of a queue. A step that finds it full commits what waits before it.
const (
	maxQueue = 4096
	maxBatch = 512
)

// queued is a step that was staged and is not known to be durable. It implements admission.Commit.
type queued struct {
	ledger  *Durable
	session admission.Key
	op      backend.Op
	rows    []*row        // that it was decided on, the first ones those of the writes
	events  []audit.Event // those of op
	call    uint64        // the call that it admits; 0: none
	ended   chan struct{}
	err     error // once it has ended
}

// Wait implements [admission.Commit]. Whoever waits first commits for all that wait.
func (s *queued) Wait(context.Context) error {
	// The context of one caller does not end what others wait for, nor what may have been
	// written already.
	for !s.over() {
		select {
		case <-s.ended:
		case s.ledger.queue.lead <- struct{}{}:
			s.ledger.commitNext(s)
		}
	}
	return s.err
}

func (s *queued) over() bool {
	select {
	case <-s.ended:
		return true
	default:
		return false
	}
}

// end says how the step ended. The rows are those of the database now, or are dropped.
func (s *queued) end(err error) {
	s.err = err
	s.op.Writes, s.op.Events, s.events = nil, nil, nil
	close(s.ended)
}

// faulty returns why the step cannot be committed: something before it failed.
func (s *queued) faulty() error {
	for _, r := range s.rows {
		if err := r.faulty(); err != nil {
			return err
		}
	}
	return nil
}

// fail ends the step, of which nothing is committed: what it has changed in memory, and
// what could have made it fail, is to be read again.
func (s *queued) fail(why, told error) {
	for _, r := range s.rows[:len(s.op.Writes)] {
		r.drop(why)
	}
	s.end(told)
}

// succeed ends the step, which is committed; told is why nothing may come of it all the
// same.
func (s *queued) succeed(told error) {
	for i := range s.op.Writes {
		if w := &s.op.Writes[i]; !w.Read {
			s.rows[i].durable.Store(w.Version + 1)
		}
	}
	s.end(told)
}

// queue is the steps that wait to be committed, in the order in which they were made.
type queue struct {
	lead chan struct{} // whoever has put something into it commits

	mu    sync.Mutex
	steps []*queued
}

// add needs the locks of the rows of the step.
func (q *queue) add(s *queued) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.steps = append(q.steps, s)
}

func (q *queue) full() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.steps) >= maxQueue
}

// take returns the steps that are to be committed next.
func (q *queue) take() []*queued {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := min(len(q.steps), maxBatch)
	batch := q.steps[:n:n]
	if q.steps = q.steps[n:]; len(q.steps) == 0 {
		q.steps = nil
	}
	return batch
}

// rest gives the lead away.
func (q *queue) rest() { <-q.lead }
