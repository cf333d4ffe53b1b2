package events

import (
	"container/list"
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
