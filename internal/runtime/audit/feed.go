package audit

import (
	"slices"
	"sync"
	"sync/atomic"
)

// A Storage stores records. Append stores one JSON object, given without a line end, before it
// returns nil. Implementations must be safe for concurrent use.
type Storage interface {
	Append(record []byte) error
}

// A BatchStorage stores several records atomically.
type BatchStorage interface {
	Storage
	AppendAll(records [][]byte) error
}

// A Feed passes records to a storage and distributes them to followers. It is safe for concurrent
// use.
type Feed struct {
	out BatchStorage // where records are stored; nil: nowhere

	followed  atomic.Bool // the feed has a follower
	mu        sync.Mutex
	followers []*Follower
}

// NewFeed returns a feed that stores records in out. If out is nil, the records are only
// distributed to followers.
func NewFeed(out BatchStorage) *Feed { return &Feed{out: out} }

// Active reports whether records are currently stored or followed.
func (f *Feed) Active() bool { return f.out != nil || f.followed.Load() }

// Append implements [Storage].
func (f *Feed) Append(record []byte) error { return f.AppendAll([][]byte{record}) }

// AppendAll implements [BatchStorage].
func (f *Feed) AppendAll(records [][]byte) error {
	if f.out != nil {
		if err := f.out.AppendAll(records); err != nil {
			return err
		}
	}
	if f.followed.Load() {
		f.distribute(records)
	}
	return nil
}

// distribute passes copies of the records to all followers.
func (f *Feed) distribute(records [][]byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range records {
		own := slices.Clone(r)
		for _, to := range f.followers {
			to.add(own)
		}
	}
}

// A Follower receives every stored record. The records must not be modified.
type Follower struct {
	feed *Feed
	most int

	mu    sync.Mutex
	held  [][]byte      // buffered records, oldest first
	lost  int           // number of records dropped because the buffer was full
	ready chan struct{} // has an element while records are buffered
}

// Follow returns a follower of all records stored from now on. It buffers at most the given number
// of records. The caller must close the follower.
func (f *Feed) Follow(most int) *Follower {
	to := &Follower{feed: f, most: most, ready: make(chan struct{}, 1)}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.followers = append(f.followers, to)
	f.followed.Store(true)
	return to
}

// Close removes the follower.
func (to *Follower) Close() {
	to.feed.mu.Lock()
	defer to.feed.mu.Unlock()
	to.feed.followers = slices.DeleteFunc(to.feed.followers, func(one *Follower) bool { return one == to })
	to.feed.followed.Store(len(to.feed.followers) > 0)
}

// Ready returns a channel that has an element while records are available.
func (to *Follower) Ready() <-chan struct{} { return to.ready }

// Take returns and removes the buffered records, each a JSON object, oldest first. lost is the
// number of dropped records that preceded them.
func (to *Follower) Take() (records [][]byte, lost int) {
	to.mu.Lock()
	defer to.mu.Unlock()
	records, lost = to.held, to.lost
	to.held, to.lost = nil, 0
	return records, lost
}

func (to *Follower) add(record []byte) {
	to.mu.Lock()
	defer to.mu.Unlock()
	if len(to.held) == to.most {
		to.held = to.held[1:]
		to.lost++
	}
	to.held = append(to.held, record)
	select {
	case to.ready <- struct{}{}:
	default:
	}
}
