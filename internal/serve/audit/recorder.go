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
// has stored it when it returns nil. It must be safe for concurrent use. Where it has
// the method AppendAll of [Log], records that come together are stored together.
type Storage interface {
	Append(record []byte) error
}

// A Recorder writes events to a Storage. Callers forward nothing to an upstream
// before its decision is stored.
type Recorder struct {
	out Storage                             // nil: nothing is recorded
	all func(records [][]byte) (int, error) // stores many, and returns how many are stored
	now func() time.Time

	broken atomic.Bool // the last record could not be stored
}

// NewRecorder returns a recorder. Without storage it records nothing.
func NewRecorder(out Storage, now func() time.Time) *Recorder {
	r := &Recorder{out: out, now: now}
	if batches, ok := out.(interface{ AppendAll([][]byte) error }); ok {
		r.all = func(records [][]byte) (int, error) {
			if err := batches.AppendAll(records); err != nil {
				return 0, err
			}
			return len(records), nil
		}
	} else {
		r.all = r.each
	}
	return r
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

// Active reports whether anything is recorded at all.
func (r *Recorder) Active() bool { return r.out != nil }

// AppendEvent appends e to dst as [AppendEvent] does, and refuses what no storage takes. Its
// error is [ErrUnrecorded].
func (r *Recorder) AppendEvent(dst []byte, e Event) ([]byte, error) {
	out, err := AppendEvent(dst, e)
	if err == nil {
		err = check(out[len(dst):])
	}
	if err != nil {
		return dst, fmt.Errorf("%w: %v", ErrUnrecorded, err)
	}
	return out, nil
}

// Store stores records of AppendEvent together. It returns how many, from the first on,
// are stored. Its error is [ErrUnrecorded].
func (r *Recorder) Store(records [][]byte) (n int, err error) {
	if len(records) == 0 {
		return 0, nil
	}
	n, err = r.all(records)
	r.broken.Store(err != nil)
	if err != nil {
		return n, fmt.Errorf("%w: %v", ErrUnrecorded, err)
	}
	return n, nil
}

// Write stores e. Its error is [ErrUnrecorded].
func (r *Recorder) Write(e Event) error {
	if r.out == nil {
		return nil
	}
	record, err := r.AppendEvent(nil, e)
	if err == nil {
		_, err = r.Store([][]byte{record})
	}
	return err
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
