package audit

import (
	"slices"
	"sync"
	"sync/atomic"
)

// A Storage stores records. Append stores one JSON object without a trailing newline. It returns
// nil once the record is stored. Implementations must be safe for concurrent use.
type Storage interface {
	Append(record []byte) error
}

// A BatchStorage is a Storage that can store several records atomically.
type BatchStorage interface {
	Storage
	AppendAll(records [][]byte) error
}

// A Feed stores records and passes them on to followers. It is safe for concurrent use.
type Feed struct {
	out BatchStorage // if nil, records are not stored

	followed  atomic.Bool // whether there are followers
	mu        sync.Mutex
	followers []*Follower
}

// NewFeed returns a feed that stores records in out, or only passes them to followers if out is
// nil.
func NewFeed(out BatchStorage) *Feed { return &Feed{out: out} }

// Active reports whether records are being stored or followed.
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

// distribute passes copies of the records to the followers.
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

// A Follower receives a copy of every record of a [Feed]. The records are shared with other
// followers and must not be modified.
type Follower struct {
	*Buffer[[]byte]
	feed *Feed
}

// Follow returns a follower that receives all records from now on. It buffers at most the given
// number of records. The caller must close it.
func (f *Feed) Follow(most int) *Follower {
	to := &Follower{NewBuffer[[]byte](most), f}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.followers = append(f.followers, to)
	f.followed.Store(true)
	return to
}

// Close removes the follower from its feed.
func (to *Follower) Close() {
	to.feed.mu.Lock()
	defer to.feed.mu.Unlock()
	to.feed.followers = slices.DeleteFunc(to.feed.followers, func(one *Follower) bool { return one == to })
	to.feed.followed.Store(len(to.feed.followers) > 0)
}
