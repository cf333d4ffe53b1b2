package sqlite

import (
	"sync"
	"time"
)

// pause is for how long nobody looks whether something has changed.
const pause = 75 * time.Millisecond

// changes looks whether somebody has changed approvals or stops, once somebody wants to
// know.
type changes struct {
	mu    sync.Mutex
	wake  chan struct{} // nil: nobody has asked yet
	stop  chan struct{}
	ended chan struct{}
}

func (c *changes) listen(r *reader) <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.wake == nil {
		c.wake, c.stop, c.ended = make(chan struct{}, 1), make(chan struct{}), make(chan struct{})
		go c.watch(r, c.wake)
	}
	return c.wake
}

func (c *changes) watch(r *reader, wake chan<- struct{}) {
	defer close(c.ended)
	tick := time.NewTicker(pause)
	defer tick.Stop()
	var seen sight
	for {
		now := seen.again(r)
		if now.attention != seen.attention {
			select {
			case wake <- struct{}{}:
			default:
			}
		}
		seen = now
		select {
		case <-tick.C:
		case <-c.stop:
			return
		}
	}
}

// A sight is what was seen of the database last. The counter is read only where the
// database has changed.
type sight struct{ data, attention int64 }

func (s sight) again(r *reader) sight {
	err := r.use(func(l *link) error {
		data, err := l.number("PRAGMA data_version")
		if err != nil || data == s.data {
			return err
		}
		s.data = data
		s.attention, err = l.number("SELECT value FROM counter WHERE name = 'attention'")
		return err
	})
	if err != nil {
		return sight{data: -1} // whoever asks what has changed is told what is wrong
	}
	return s
}

func (c *changes) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stop == nil {
		return
	}
	close(c.stop)
	<-c.ended
	c.wake, c.stop = make(chan struct{}), nil // nobody wakes
}
