package audit

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// ErrUnrecorded is the error for a record that could not be stored.
var ErrUnrecorded = errors.New("the decision cannot be put on record")

// A Storage stores records. Append takes one JSON object without a line end, and has stored it when
// it returns nil. Implementations must be safe for concurrent use.
type Storage interface {
	Append(record []byte) error
}

// A BatchStorage stores several records atomically.
type BatchStorage interface {
	Storage
	AppendAll(records [][]byte) error
}

// A Recorder writes events to a Storage. Callers must not forward a call before its decision is
// stored. It is safe for concurrent use.
type Recorder struct {
	out   Storage // nil: nothing is recorded
	feed  *Feed   // out as a Feed, or nil
	queue *queue
	now   func() time.Time

	broken atomic.Bool // the last record could not be stored
}

// NewRecorder returns a recorder. If out is nil, it records nothing.
func NewRecorder(out Storage, now func() time.Time) *Recorder {
	r := &Recorder{out: out, now: now}
	r.feed, _ = out.(*Feed)
	r.queue = newQueue(r.store)
	return r
}

// store stores records, atomically if the storage supports that. It returns how many are stored.
func (r *Recorder) store(records [][]byte) (n int, err error) {
	if len(records) == 0 {
		return 0, nil
	}
	if batches, ok := r.out.(BatchStorage); !ok {
		n, err = r.each(records)
	} else if err = batches.AppendAll(records); err == nil {
		n = len(records)
	}
	r.broken.Store(err != nil)
	if err != nil {
		return n, fmt.Errorf("%w: %v", ErrUnrecorded, err)
	}
	return n, nil
}

// each stores records one by one until an error occurs.
func (r *Recorder) each(records [][]byte) (n int, err error) {
	for i, record := range records {
		if err := r.out.Append(record); err != nil {
			return i, err
		}
	}
	return len(records), nil
}

// Active reports whether events are recorded. With a [Feed], the result may change.
func (r *Recorder) Active() bool {
	if r.feed != nil {
		return r.feed.Active()
	}
	return r.out != nil
}

// Prepare encodes events for [Recorder.Stage]. Its error is [ErrUnrecorded].
func (r *Recorder) Prepare(s *Staged, events ...Event) (err error) {
	if len(events) == 0 {
		return nil
	}
	s.records, s.ends = s.records[:0], s.few[:0]
	for _, e := range events {
		before := len(s.records)
		if s.records, err = AppendEvent(s.records, e); err == nil {
			err = check(s.records[before:])
		}
		if err != nil {
			return fmt.Errorf("%w: %v", ErrUnrecorded, err)
		}
		s.ends = append(s.ends, len(s.records))
	}
	return nil
}

// Stage enqueues prepared records after those of all steps staged before. If they or earlier
// records cannot be stored, undo is called, after the undo functions of later steps. undo may be
// nil, and must not stage records. If Stage itself returns an error, undo is not called. Its error
// is [ErrUnrecorded].
func (r *Recorder) Stage(s *Staged, undo func()) error {
	s.undo = undo
	return r.queue.push(s)
}

// AwaitRoom stores the waiting records if there are too many. Call it before Stage, without holding
// locks that an undo function needs.
func (r *Recorder) AwaitRoom() {
	if b := r.queue.full(); b != nil {
		b.wait(r.queue)
	}
}

// Undoes reports whether any waiting step has an undo function.
func (r *Recorder) Undoes() bool { return r.queue.hasUndo() }

// Flush waits until all records staged before are stored.
func (r *Recorder) Flush() error {
	var s Staged
	if err := r.Stage(&s, nil); err != nil {
		return err
	}
	return s.Wait()
}

// Write stores events after all that were staged before. Its error is [ErrUnrecorded].
func (r *Recorder) Write(events ...Event) error {
	if r.out == nil {
		return nil
	}
	var s Staged
	err := r.Prepare(&s, events...)
	if err == nil {
		err = r.Stage(&s, nil)
	}
	if err != nil {
		return err
	}
	return s.Wait()
}

// Ready returns an error if records cannot be stored, as far as is known, so that calls can be
// refused early. After a failure it tries again with a record that marks the gap.
func (r *Recorder) Ready() error {
	if !r.broken.Load() {
		return nil
	}
	return r.Write(resumed{Time: r.now(), Event: "resumed"})
}
