package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/petrigate/petrigate/internal/text"
)

// ErrUnrecorded says that a decision could not be put on record.
var ErrUnrecorded = errors.New("the decision cannot be put on record")

// A Storage takes one JSON object, without a line end, and has stored it when
// Append returns. It is safe for concurrent use.
type Storage interface {
	Append(record []byte) error
}

// A Recorder writes what is decided and what comes of it. Nothing goes to an
// upstream before its decision is stored.
type Recorder struct {
	out Storage // nil: nothing is recorded
	now func() time.Time

	broken atomic.Bool // the last record could not be stored
}

// New makes a recorder. Without storage it records nothing.
func New(out Storage, now func() time.Time) *Recorder {
	return &Recorder{out: out, now: now}
}

// Active reports whether anything is recorded at all.
func (r *Recorder) Active() bool { return r.out != nil }

// Write stores a record, as one of the types of this package. An error is
// [ErrUnrecorded].
func (r *Recorder) Write(v any) error {
	if r.out == nil {
		return nil
	}
	line, err := json.Marshal(v)
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

// Ready reports why nothing can be put on record, as far as that is known: a
// call is then refused before anything is spent on it. Whether it still is so
// is tried with a record that marks the gap.
func (r *Recorder) Ready() error {
	if !r.broken.Load() {
		return nil
	}
	return r.Write(resumed{Time: r.now(), Event: "resumed"})
}
