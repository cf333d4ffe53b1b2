package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// Limits on the number of steps in the queue and in a commit. If the queue is full, its steps are
// committed before the next decision is made.
const (
	maxQueue = 4096
	maxBatch = 512
)

// queuedStep holds writes and audit events that [Durable] commits together. It implements
// admission.Commit, so callers can wait until the step is durable.
type queuedStep struct {
	committer    *committer
	session      admission.Key
	op           backend.Op
	rows         []*row        // rows that the decision used; the rows of op.Writes come first
	events       []audit.Event // op.Events in unencoded form
	call         uint64        // number of the admitted call, or 0 if the step admits no call
	duringCommit bool          // whether a commit was in progress when the step was queued
	done         chan struct{}
	err          error // result of the step; valid once done is closed

	inline struct { // initial space for op.Writes and rows
		writes [2]backend.Write
		rows   [2]*row
	}
	unflushed atomic.Bool // whether the step is committed but not flushed yet; the goroutine that committed it also flushes it
}

// Wait implements [admission.Commit]. The first goroutine to wait commits the steps of all
// goroutines, and flushes the steps that must be on disk.
func (s *queuedStep) Wait(context.Context) error {
	// Ignore the context, because a caller must not cancel a commit that others wait for or that
	// may already be written.
	for !s.isDone() {
		if s.unflushed.Load() {
			<-s.done
			break
		}
		select {
		case <-s.done:
		case s.committer.queue.commitLock <- struct{}{}:
			s.committer.commitNext(s)
		}
	}
	return s.err
}

func (s *queuedStep) isDone() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

func (s *queuedStep) addWrite(r *row, w backend.Write) {
	s.op.Writes, s.rows = append(s.op.Writes, w), append(s.rows, r)
	if !w.Read {
		r.version++
		if w.Data != nil {
			r.size = len(w.Data)
		}
		if r.sinceFull++; w.Change == nil {
			r.sinceFull = 1
		}
		r.change.Nets, r.change.Calls, r.change.Spent = r.change.Nets[:0], r.change.Calls[:0], false
		r.dirty, r.removed = nil, nil
	}
}

// eventCapacity is the initial buffer capacity for an encoded event. Most events fit.
const eventCapacity = 512

// addEvents encodes events and adds them to the step.
func (s *queuedStep) addEvents(events []audit.Event) error {
	if len(events) == 0 {
		return nil
	}
	s.events, s.op.Events = events, make([]backend.Event, 0, len(events))
	for _, e := range events {
		object, err := audit.AppendEvent(make([]byte, 0, eventCapacity), e)
		if err != nil {
			return fmt.Errorf("%w: %w", audit.ErrUnrecorded, err)
		}
		s.op.Events = append(s.op.Events, backend.Event{Time: s.op.Time, Session: s.op.Session, Object: object})
	}
	return nil
}

// finish ends the step; Wait then returns the given result. Before the call, the caller must mark
// the step's cached rows as committed. If the step has failed, the caller must instead drop these
// rows; see [row].
func (s *queuedStep) finish(err error) {
	s.err = err
	s.op.Writes, s.op.Events, s.events = nil, nil, nil
	clear(s.inline.writes[:])
	close(s.done)
}

// dropReason returns the reason why one of the step's rows is invalid, or nil if all rows are
// valid. A step with an invalid row cannot be committed.
func (s *queuedStep) dropReason() error {
	for _, r := range s.rows {
		if err := r.dropReason(); err != nil {
			return err
		}
	}
	return nil
}

// fail ends a step that was not committed. It drops the rows that the step wrote or checked, for
// the given reason, so that they are read again. The step's Wait returns the given result.
func (s *queuedStep) fail(why, result error) {
	for _, r := range s.rows[:len(s.op.Writes)] {
		r.drop(why)
	}
	s.finish(result)
}

// markCommitted notes, in each row written by the step, that the row's new version is in the
// database.
func (s *queuedStep) markCommitted() {
	for i := range s.op.Writes {
		if w := &s.op.Writes[i]; !w.Read {
			s.rows[i].durable.Store(w.Version + 1)
		}
	}
}

// queue holds the steps that wait for a commit, in the order of their decisions.
type queue struct {
	commitLock chan struct{} // semaphore of size one; its holder may commit

	mu    sync.Mutex
	steps []*queuedStep
	groupCommit
}

// add appends a step. The caller must hold the locks of the step's rows.
func (q *queue) add(s *queuedStep) {
	q.mu.Lock()
	defer q.mu.Unlock()
	s.duringCommit = len(q.commitLock) > 0
	q.steps = append(q.steps, s)
	if q.target > 0 && len(q.steps) >= q.target {
		q.target = 0
		close(q.reached)
	}
}

func (q *queue) full() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.steps) >= maxQueue
}

// nextBatch removes the steps of the next commit from the queue and returns them.
func (q *queue) nextBatch() []*queuedStep {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := min(len(q.steps), maxBatch)
	batch := q.steps[:n:n]
	if q.steps = q.steps[n:]; len(q.steps) == 0 {
		q.steps = nil
	}
	return batch
}

func (q *queue) unlockCommit() { <-q.commitLock }

// groupCommit determines how long a commit waits for more steps. Waiting saves work, because a
// commit of many steps costs the database about as much as a commit of one step. It saves most if
// clients are distributed over many replicas, so that each replica has only a few steps to commit.
type groupCommit struct {
	target  int           // number of steps that the next commit waits for, or 0 if it does not wait
	reached chan struct{} // closed when the queue has reached the target number of steps

	lastCommit time.Duration // duration of the last commit
	expected   int           // expected number of steps in the next commit
	hadStale   bool          // whether the last commit contained stale steps
	contention int           // remaining number of commits during which contention is expected
}

// Limits on the time that a commit waits for more steps.
const (
	fastCommit        = 500 * time.Microsecond // the next commit waits only if the last one took at least this long
	maxGather         = 2 * time.Millisecond   // longest time that a commit waits
	contentionCommits = 8                      // after a commit with stale steps, more stale steps are expected during this number of commits
)

// gather delays a commit so that the callers of the last commit can queue their next steps. It
// returns once the expected number of steps is queued, and after maxGather or half the duration of
// the last commit at the latest.
//
// gather returns immediately if the last commit took less than fastCommit. Unless the last commit
// contained stale steps, it also returns immediately if
//   - the given step was queued while no commit was in progress, because no other caller may be
//     active, or
//   - a commit contained stale steps recently, because other processes are probably changing the
//     same parts of the state, and a delay would make the waiting steps stale.
func (q *queue) gather(s *queuedStep) {
	if q.lastCommit < fastCommit || !q.hadStale && (!s.duringCommit || q.contention > 0) || !q.setTarget(q.expected) {
		return
	}
	select {
	case <-q.reached:
	case <-time.After(min(q.lastCommit/2, maxGather)):
		q.setTarget(0)
	}
}

// setTarget creates the channel q.reached, which is closed once the queue contains n steps. It
// returns false if the queue already contains n or more steps. setTarget(0) only cancels the
// previous target.
func (q *queue) setTarget(n int) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.target = 0; len(q.steps) >= n {
		return false
	}
	q.target, q.reached = n, make(chan struct{})
	return true
}

// noteCommit records the result of a commit and predicts the number of steps in the next commit.
// Usually this is the number of steps in the queue plus one new step for each caller of this
// commit. If the commit contained stale steps, only callers whose steps were stale or lost (see
// [splitDropped]) are expected to add a step. noteCommit must be called before the steps end,
// because otherwise it could count new steps twice.
func (q *queue) noteCommit(ops []*backend.Op, lost int, took time.Duration) {
	stale := 0
	for _, op := range ops {
		if errors.Is(op.Err, backend.ErrStale) {
			stale++
		}
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.lastCommit, q.hadStale = took, stale > 0
	if q.hadStale {
		q.expected, q.contention = stale+lost+len(q.steps), contentionCommits
	} else {
		q.expected, q.contention = len(ops)+lost+len(q.steps), max(0, q.contention-1)
	}
	q.expected = min(q.expected, maxBatch)
}
