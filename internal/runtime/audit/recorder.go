package audit

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// ErrUnrecorded is wrapped by the errors for records that could not be stored.
var ErrUnrecorded = errors.New("cannot record the decision")

// A Recorder writes events to a Storage. A call must not be forwarded before its decision is
// stored. A Recorder is safe for concurrent use.
type Recorder struct {
	queue
	out  Storage // if nil, nothing is recorded
	feed *Feed   // the same as out if out is a [Feed]; otherwise nil
	now  func() time.Time

	broken atomic.Bool // whether the last record could not be stored
}

// NewRecorder returns a recorder that writes to out. If out is nil, nothing is recorded.
func NewRecorder(out Storage, now func() time.Time) *Recorder {
	r := &Recorder{out: out, now: now}
	r.feed, _ = out.(*Feed)
	r.storeAll, r.open = r.store, &batch{}
	return r
}

// store stores records and returns how many were stored. It stores all of them or none if the
// storage supports batches.
func (r *Recorder) store(records [][]byte) (n int, err error) {
	if len(records) == 0 {
		return 0, nil
	}
	if batches, ok := r.out.(BatchStorage); ok {
		if err = batches.AppendAll(records); err == nil {
			n = len(records)
		}
	} else {
		for ; n < len(records); n++ {
			if err = r.out.Append(records[n]); err != nil {
				break
			}
		}
	}
	r.broken.Store(err != nil)
	if err != nil {
		return n, fmt.Errorf("%w: %v", ErrUnrecorded, err)
	}
	return n, nil
}

// Active reports whether events are being recorded. The result can change over time if the storage
// is a [Feed].
func (r *Recorder) Active() bool {
	if r.feed != nil {
		return r.feed.Active()
	}
	return r.out != nil
}

// Prepare encodes events into s, to be staged with [Recorder.Stage]. Errors wrap [ErrUnrecorded].
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

// Write stores events after all records staged earlier. Errors wrap [ErrUnrecorded].
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

// Ready lets callers refuse calls early while records cannot be stored. If the last write failed,
// Ready tries to write a record that marks the end of the gap, and returns an error if this fails
// too. Otherwise it returns nil.
func (r *Recorder) Ready() error {
	if !r.broken.Load() {
		return nil
	}
	return r.Write(resumed{Time: r.now(), Event: "resumed"})
}
