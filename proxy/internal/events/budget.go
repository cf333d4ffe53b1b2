package events

import (
	"bytes"
	"container/list"
	"slices"
	"sync"
)

// How many bytes the streams of one principal may keep for clients that come
// back, and those of all principals.
const (
	budgetEach = 16 << 20
	budgetAll  = 64 << 20
)

// eventCost is what an event costs besides its bytes.
const eventCost = 64

// A Budget bounds the bytes that streams keep for clients that come back, for each
// principal and in all. Where there is no room, the oldest streams lose what they
// keep: those of the principal, then those of the principal that keeps most. The zero
// value is ready to use.
type Budget struct {
	mu    sync.Mutex // guards the logs too
	total int
	held  map[string]*holding // by principal; none of a principal that keeps nothing
}

// A holding is what the streams of one principal keep.
type holding struct {
	principal string
	bytes     int
	logs      list.List // of *log that keep something, the oldest first
}

// drop forgets all events of the log, and makes add keep none.
func (l *log) drop() {
	l.budget.mu.Lock()
	defer l.budget.mu.Unlock()
	l.empty()
	l.dropped = true
}

// add keeps an event and returns its id. Where the stream has too many, it forgets
// the oldest.
func (l *log) add(parts [][]byte, last bool) (id string) {
	size := eventCost
	for _, part := range parts {
		size += len(part)
	}
	var event []byte
	if size <= maxStreamBytes {
		event = bytes.Join(parts, nil)
	}
	b := l.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	number := l.next
	l.next++
	l.done = l.done || last
	if event == nil || l.dropped {
		l.empty()
		l.lost = last
	} else {
		l.events = append(l.events, event)
		for len(l.events) > maxEvents || l.size+size > maxStreamBytes {
			b.uncount(l, eventCost+len(l.events[0]))
			l.events[0], l.events = nil, l.events[1:]
		}
		b.count(l, size)
	}
	close(l.more)
	l.more = make(chan struct{})
	return l.id(number)
}

// empty forgets all events. The budget is locked.
func (l *log) empty() {
	l.lost = l.lost || l.done && len(l.events) > 0
	l.events = nil
	l.budget.uncount(l, l.size)
}

// since returns the events after number seen and the number of the first of them,
// whether the stream is done, and a channel that the next event closes.
func (l *log) since(seen int) (events [][]byte, from int, done bool, more <-chan struct{}) {
	l.budget.mu.Lock()
	defer l.budget.mu.Unlock()
	events = l.events
	if l.lost && l.request != nil {
		events = [][]byte{l.notKept()}
	}
	first := l.next - len(events)
	from = max(seen+1, first)
	return slices.Clone(events[min(from-first, len(events)):]), from, l.done, l.more
}

// count puts n bytes more down to l, and makes the room for them.
func (b *Budget) count(l *log, n int) {
	h := b.held[l.principal]
	switch {
	case b.held == nil:
		b.held = map[string]*holding{}
		fallthrough
	case h == nil:
		h = &holding{principal: l.principal}
		b.held[l.principal] = h
	}
	if l.place == nil {
		l.place = h.logs.PushBack(l)
	}
	l.size += n
	h.bytes += n
	b.total += n
	for h.bytes > budgetEach {
		h.oldest().empty()
	}
	for b.total > budgetAll {
		b.most().oldest().empty()
	}
}

// uncount takes n bytes of l off.
func (b *Budget) uncount(l *log, n int) {
	if l.place == nil {
		return
	}
	h := b.held[l.principal]
	l.size -= n
	h.bytes -= n
	b.total -= n
	if l.size > 0 {
		return
	}
	h.logs.Remove(l.place)
	l.place = nil
	if h.logs.Len() == 0 {
		delete(b.held, h.principal)
	}
}

func (h *holding) oldest() *log {
	l, _ := h.logs.Front().Value.(*log)
	return l
}

// most is what the principal holds that holds most.
func (b *Budget) most() (most *holding) {
	for _, h := range b.held {
		if most == nil || h.bytes > most.bytes || h.bytes == most.bytes && h.principal < most.principal {
			most = h
		}
	}
	return most
}
