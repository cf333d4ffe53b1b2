package journal

import (
	"runtime"
	"sync"
)

// A flushing brings the steps of an open segment to the disk: one flush serves all that wait for it. Steps
// are appended to the segment meanwhile, also by other processes.
//
// It is safe for concurrent use. Its lock is taken behind all others, and is not held during a flush.
type flushing struct {
	file file

	mu      sync.Mutex
	step    uint64        // the last one that is on the disk
	err     error         // of a flush: what the file has lost by it, no other flush brings back
	running chan struct{} // closed when the flush that runs has ended; nil: none runs
	users   int           // the log, and steps that are to be brought to the disk
}

// newFlushing is that of a segment of which all up to a step is on the disk. The log is its user.
func newFlushing(f file, step uint64) *flushing { return &flushing{file: f, step: step, users: 1} }

// enter adds a user.
func (d *flushing) enter() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.users++
}

// leave takes a user away. The last one closes the file.
func (d *flushing) leave() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.users--; d.users == 0 {
		_ = d.file.Close()
	}
}

// failed reports whether a flush has failed.
func (d *flushing) failed() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err != nil
}

// bring returns once a step is on the disk. The last function tells the step with which the log ends.
func (d *flushing) bring(step uint64, last func() uint64) error {
	for {
		runtime.Gosched()        // whoever is about to append a step is served as well
		end := max(step, last()) // before the flush begins, and without the lock
		others, done, err := d.begin(step)
		switch {
		case done:
			return err
		case others != nil:
			<-others
		default:
			d.end(end, d.file.sync())
		}
	}
}

// begin begins a flush, unless it is done: the step is on the disk, or cannot come there any more. Others
// is closed when a flush that runs already has ended.
func (d *flushing) begin(step uint64) (others <-chan struct{}, done bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.step >= step:
		return nil, true, nil
	case d.err != nil:
		return nil, true, d.err
	case d.running != nil:
		return d.running, false, nil
	}
	d.running = make(chan struct{})
	return nil, false, nil
}

// end ends the flush of all steps up to one.
func (d *flushing) end(step uint64, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err = err; err == nil {
		d.step = max(d.step, step)
	}
	close(d.running)
	d.running = nil
}
