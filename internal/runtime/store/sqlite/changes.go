package sqlite

import (
	"sync"
	"time"
)

// pollInterval is the time between two checks for changes.
const pollInterval = 75 * time.Millisecond

// changes polls the database for changes that other processes make to approvals and stops. The
// first call to listen starts the polling.
type changes struct {
	mu    sync.Mutex
	wake  chan struct{} // nil before the first call to listen
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
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	var seen counters
	for {
		now := seen.refresh(r)
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

// counters holds the database's change counters, as read by a poll: SQLite's data version, and the
// number of changes to approvals and stops. A poll reads this number only if the data version has
// changed.
type counters struct{ data, attention int64 }

func (s counters) refresh(r *reader) counters {
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
		return counters{data: -1} // after an error, the number of changes is 0, which usually differs from the number in the last poll; the receiver is then notified, reads the database, and gets the error
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
	c.wake, c.stop = make(chan struct{}), nil // nothing is ever sent to this channel
}
