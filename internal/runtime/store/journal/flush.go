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
	err     error         // of the flush that failed; later ones would succeed without the lost data
	running chan struct{} // closed when the flush that runs has ended; nil: none runs
	users   int           // the log, and steps that are to be brought to the disk
}

// newFlushing returns the flushing of a segment that has all steps up to this one on the disk. The log is its
// first user.
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

// bring returns once a step is on the disk. The function last returns the last step of the log.
func (d *flushing) bring(step uint64, last func() uint64) error {
	for {
		runtime.Gosched()        // let other goroutines append their steps first
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

// begin begins a flush. It reports done if the step is on the disk or an earlier flush has failed. If a flush
// is running, it returns a channel that is closed at the end of that flush.
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
