package store

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
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
	behind  bool          // a commit was under way when it was staged
	ended   chan struct{}
	err     error // once it has ended

	room struct { // for op and rows
		writes [2]backend.Write
		rows   [2]*row
	}
	unflushed atomic.Bool // it is committed and waits for a flush; the goroutine that committed it ends it
}

// Wait implements [admission.Commit]. The first goroutine that waits commits the steps of all, and flushes
// those that need it.
func (s *queued) Wait(context.Context) error {
	// The context of one caller does not end what others wait for, nor what may have been
	// written already.
	for !s.over() {
		if s.unflushed.Load() {
			<-s.ended
			break
		}
		select {
		case <-s.ended:
		case s.ledger.queue.lead <- struct{}{}:
			s.commitNext()
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
	clear(s.room.writes[:])
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

// commit notes that the step is committed.
func (s *queued) commit() {
	for i := range s.op.Writes {
		if w := &s.op.Writes[i]; !w.Read {
			s.rows[i].durable.Store(w.Version + 1)
		}
	}
}

// endCommitted ends a step that is committed. A non-nil error told means that its call must not be sent.
func (s *queued) endCommitted(told error) {
	if told != nil && s.call != 0 {
		s.ledger.unsent.add(admitted{session: s.session, call: s.call})
	}
	s.end(told)
}

// queue is the steps that wait to be committed, in the order in which they were made.
type queue struct {
	lead chan struct{} // whoever has put something into it commits

	mu    sync.Mutex
	steps []*queued
	gathering
}

// add needs the locks of the rows of the step.
func (q *queue) add(s *queued) {
	q.mu.Lock()
	defer q.mu.Unlock()
	s.behind = len(q.lead) > 0
	q.steps = append(q.steps, s)
	q.arrived(len(q.steps))
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

// gathering is the part of a [queue] that decides how long a commit waits for more steps. A commit
// costs a database about the same for one step and for many, and the more replicas share the clients,
// the fewer steps wait at each of them.
type gathering struct {
	wanted int           // the steps that a commit waits for; 0: no commit waits
	filled chan struct{} // closed when there are as many

	took   time.Duration // by the last commit
	busy   int           // the steps of the last commit, and those that were staged meanwhile
	again  bool          // steps of the last commit were stale: they are decided again at once
	rivals int           // for so many commits other processes are expected to change the same parts
}

// Bounds of gathering.
const (
	quick     = 500 * time.Microsecond // after a commit that took less, the next one does not wait
	patient   = 2 * time.Millisecond   // the longest wait
	rivalries = 8                      // for so many commits after one with stale steps, others are expected
)

// gather waits until those who waited for the last commit have staged their next steps, but at most
// for half of the time of that commit. Only a step that was staged while a commit was under way waits,
// or one that was stale: a lone call does not. Where other processes change the same parts, a step
// that waits becomes stale, so then only those that were stale are waited for.
func (q *queue) gather(s *queued) {
	if q.took < quick || !q.again && (!s.behind || q.rivals > 0) || !q.want(q.busy) {
		return
	}
	timer := time.NewTimer(min(q.took/2, patient))
	defer timer.Stop()
	select {
	case <-q.filled:
	case <-timer.C:
		q.want(0)
	}
}

// want has filled closed as soon as n steps wait, and reports whether there are fewer now.
func (q *queue) want(n int) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.wanted = 0; len(q.steps) >= n {
		return false
	}
	q.wanted, q.filled = n, make(chan struct{})
	return true
}

// arrived notes that n steps wait.
func (g *gathering) arrived(n int) {
	if g.wanted > 0 && n >= g.wanted {
		g.wanted = 0
		close(g.filled)
	}
}

// committed notes how a commit of ops went, before their steps end. Steps that were lost are decided
// again too.
func (q *queue) committed(ops []*backend.Op, lost int, took time.Duration) {
	stale := 0
	for _, op := range ops {
		if errors.Is(op.Err, backend.ErrStale) {
			stale++
		}
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.took, q.again = took, stale > 0
	if q.again {
		q.busy, q.rivals = stale+lost+len(q.steps), rivalries
	} else {
		q.busy, q.rivals = len(ops)+lost+len(q.steps), max(0, q.rivals-1)
	}
	q.busy = min(q.busy, maxBatch)
}
