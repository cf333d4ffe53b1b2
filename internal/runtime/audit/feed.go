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
			to.Add(own)
		}
	}
}

// A Follower receives every stored record, each a JSON object. The records must not be modified.
type Follower struct {
	*Buffer[[]byte]
	feed *Feed
}

// Follow returns a follower of all records stored from now on. It buffers at most the given number
// of records. The caller must close the follower.
func (f *Feed) Follow(most int) *Follower {
	to := &Follower{NewBuffer[[]byte](most), f}
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
