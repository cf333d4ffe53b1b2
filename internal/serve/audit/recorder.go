package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/petrigate/petrigate/internal/text"
)

// ErrUnrecorded is the error of a record that could not be stored.
var ErrUnrecorded = errors.New("the decision cannot be put on record")

// A Storage stores records. Append takes one JSON object without a line end, and
// has stored it when it returns nil. It must be safe for concurrent use.
type Storage interface {
	Append(record []byte) error
}

// A Recorder writes events to a Storage. Callers forward nothing to an upstream
// before its decision is stored.
type Recorder struct {
	out Storage // nil: nothing is recorded
	now func() time.Time

	broken atomic.Bool // the last record could not be stored
}

// NewRecorder returns a recorder. Without storage it records nothing.
func NewRecorder(out Storage, now func() time.Time) *Recorder {
	return &Recorder{out: out, now: now}
}

// Active reports whether anything is recorded at all.
func (r *Recorder) Active() bool { return r.out != nil }

// Write stores e. Its error is [ErrUnrecorded].
func (r *Recorder) Write(e Event) error {
	if r.out == nil {
		return nil
	}
	line, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("%w: %v", ErrUnrecorded, err)
	}
	err = r.out.Append(text.EscapeJSON(line))
	r.broken.Store(err != nil)
	if err != nil {
		return fmt.Errorf("%w: %v", ErrUnrecorded, err)
	}
	return nil
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
