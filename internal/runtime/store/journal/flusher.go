package journal

import (
	"runtime"
	"sync"
)

// flusher flushes the steps of an open segment to disk. One flush serves all waiting goroutines
// (group commit). During a flush, this process and others can append steps to the segment.
//
// A flusher is safe for concurrent use. Its lock is acquired after all other locks, and is not held
// during a flush.
type flusher struct {
	file file

	mu       sync.Mutex
	step     uint64        // last step known to be on disk
	err      error         // error of a failed flush; permanent, because later flushes would succeed although data was lost
	inFlight chan struct{} // closed when the current flush ends; nil if no flush is in progress
	refs     int           // number of references to the file, held by the log and by pending flushes
}

// newFlusher returns a flusher for a segment whose steps up to the given step are on disk. The log
// holds the first reference.
func newFlusher(f file, step uint64) *flusher { return &flusher{file: f, step: step, refs: 1} }

// retain adds a reference, so that the file stays open.
func (d *flusher) retain() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.refs++
}

// release drops a reference. Dropping the last reference closes the file.
func (d *flusher) release() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.refs--; d.refs == 0 {
		_ = d.file.Close()
	}
}

// failed reports whether a flush has failed.
func (d *flusher) failed() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err != nil
}

// flushTo waits until the step is on disk, flushing the file if necessary. The callback must return
// the log's last step.
func (d *flusher) flushTo(step uint64, last func() uint64) error {
	for {
		runtime.Gosched()        // let other goroutines append their steps first
		end := max(step, last()) // call last before the flush begins, so that the flush covers the log's last step; do not hold d.mu, because last may acquire other locks
		others, done, err := d.beginFlush(step)
		switch {
		case done:
			return err
		case others != nil:
			<-others
		default:
			d.endFlush(end, d.file.sync())
		}
	}
}

// beginFlush begins a flush. The caller must then flush the file and call endFlush. If the given
// step is already on disk, beginFlush returns true instead. If an earlier flush has failed, it
// returns true and the error. If another flush is in progress, it returns a channel that is closed
// when that flush ends.
func (d *flusher) beginFlush(step uint64) (others <-chan struct{}, done bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.step >= step:
		return nil, true, nil
	case d.err != nil:
		return nil, true, d.err
	case d.inFlight != nil:
		return d.inFlight, false, nil
	}
	d.inFlight = make(chan struct{})
	return nil, false, nil
}

// endFlush records the result of a flush of all steps up to the given step, and wakes the
// goroutines that wait for the flush.
func (d *flusher) endFlush(step uint64, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err = err; err == nil {
		d.step = max(d.step, step)
	}
	close(d.inFlight)
	d.inFlight = nil
}
