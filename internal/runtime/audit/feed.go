package audit

import (
	"slices"
	"sync"
	"sync/atomic"
)

// A Feed passes records on to a storage, and lets others follow what is stored from then
// on. It is safe for concurrent use.
type Feed struct {
	out Storage // nil: records are kept nowhere

	followed  atomic.Bool // somebody follows
	mu        sync.Mutex
	followers []*Follower
}

// NewFeed returns a feed. Without storage nothing is recorded while nobody follows.
func NewFeed(out Storage) *Feed { return &Feed{out: out} }

// Active reports whether records are wanted at all now.
func (f *Feed) Active() bool { return f.out != nil || f.followed.Load() }

// Append implements [Storage].
func (f *Feed) Append(record []byte) error { return f.AppendAll([][]byte{record}) }

// AppendAll implements [BatchStorage]. A storage that takes one record at a time may have
// taken the first ones when another fails.
func (f *Feed) AppendAll(records [][]byte) error {
	if f.out != nil {
		if err := appendAll(f.out, records); err != nil {
			return err
		}
	}
	if f.followed.Load() {
		f.pass(records)
	}
	return nil
}

func appendAll(out Storage, records [][]byte) error {
	if batches, ok := out.(BatchStorage); ok {
		return batches.AppendAll(records)
	}
	for _, r := range records {
		if err := out.Append(r); err != nil {
			return err
		}
	}
	return nil
}

// pass gives copies of the records to all who follow.
func (f *Feed) pass(records [][]byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range records {
		own := slices.Clone(r)
		for _, to := range f.followers {
			to.take(own)
		}
	}
}

// A Follower gets records as they are stored. The records must not be changed.
type Follower struct {
	feed *Feed
	most int

	mu    sync.Mutex
	held  [][]byte      // the oldest first
	lost  int           // that there was no room for
	ready chan struct{} // has one element while records are held
}

// Follow returns a follower of the records that are stored from now on, which keeps so many
// of them until they are taken. The caller closes it.
func (f *Feed) Follow(most int) *Follower {
	to := &Follower{feed: f, most: most, ready: make(chan struct{}, 1)}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.followers = append(f.followers, to)
	f.followed.Store(true)
	return to
}

// Close ends the following.
func (to *Follower) Close() {
	to.feed.mu.Lock()
	defer to.feed.mu.Unlock()
	to.feed.followers = slices.DeleteFunc(to.feed.followers, func(one *Follower) bool { return one == to })
	to.feed.followed.Store(len(to.feed.followers) > 0)
}

// Ready has an element when there are records to take.
func (to *Follower) Ready() <-chan struct{} { return to.ready }

// Take returns the records since the last time, each a JSON object, the oldest first, and
// how many before them were lost because nobody took them.
func (to *Follower) Take() (records [][]byte, lost int) {
	to.mu.Lock()
	defer to.mu.Unlock()
	records, lost = to.held, to.lost
	to.held, to.lost = nil, 0
	return records, lost
}

func (to *Follower) take(record []byte) {
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
