package audit

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// ErrUnrecorded is the error of a record that could not be stored.
var ErrUnrecorded = errors.New("the decision cannot be put on record")

// A Storage stores records. Append takes one JSON object without a line end, and
// has stored it when it returns nil. It must be safe for concurrent use.
type Storage interface {
	Append(record []byte) error
}

// A BatchStorage stores many records together, all or none.
type BatchStorage interface {
	Storage
	AppendAll(records [][]byte) error
}

// A Recorder writes events to a Storage. Callers forward nothing to an upstream
// before its decision is stored.
type Recorder struct {
	out   Storage // nil: nothing is recorded
	feed  *Feed   // out, where it is one
	queue *queue
	now   func() time.Time

	broken atomic.Bool // the last record could not be stored
}

// NewRecorder returns a recorder. Without storage it records nothing.
func NewRecorder(out Storage, now func() time.Time) *Recorder {
	r := &Recorder{out: out, now: now}
	r.feed, _ = out.(*Feed)
	r.queue = newQueue(r.store)
	return r
}

// store stores records, together where the storage can. It returns how many are stored.
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

// each stores records one by one, until an error.
func (r *Recorder) each(records [][]byte) (n int, err error) {
	for i, record := range records {
		if err := r.out.Append(record); err != nil {
			return i, err
		}
	}
	return len(records), nil
}

// Active reports whether anything is recorded at all. With a [Feed] that may change.
func (r *Recorder) Active() bool {
	if r.feed != nil {
		return r.feed.Active()
	}
	return r.out != nil
}

// Prepare makes records of events for [Recorder.Stage]. Its error is [ErrUnrecorded].
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

// Stage puts prepared records behind those of all steps that were staged before. Where
// they cannot be stored, or what is before them cannot, undo is called: after those of
// the steps behind. undo may be nil, and must not stage. After an error of Stage itself
// undo is not called. Its error is [ErrUnrecorded].
func (r *Recorder) Stage(s *Staged, undo func()) error {
	s.undo = undo
	return r.queue.push(s)
}

// AwaitRoom stores what waits where that is too much. It is called before what Stage
// follows, without a lock that an undo needs.
func (r *Recorder) AwaitRoom() {
	if b := r.queue.full(); b != nil {
		b.wait(r.queue)
	}
}

// Undoes reports whether there are steps that may have to be undone.
func (r *Recorder) Undoes() bool { return r.queue.undoes() }

// Flush returns once nothing waits that was staged before.
func (r *Recorder) Flush() error {
	var s Staged
	if err := r.Stage(&s, nil); err != nil {
		return err
	}
	return s.Wait()
}

// Write stores events, behind all that was staged before. Its error is [ErrUnrecorded].
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

// Ready returns why no record can be stored, as far as is known, so that calls can
// be refused early. After a failure it tries again with a record that marks the
// gap.
func (r *Recorder) Ready() error {
	if !r.broken.Load() {
		return nil
	}
	return r.Write(resumed{Time: r.now(), Event: "resumed"})
}
