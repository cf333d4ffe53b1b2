package telemetry

import (
	"sync/atomic"
	"time"
)

// A histogram counts values in buckets. It is safe for concurrent use.
type histogram struct {
	bounds []int64 // upper bounds of the buckets, ascending
	counts []atomic.Uint64
	sum    atomic.Int64
}

func newHistogram(bounds []int64) *histogram {
	return &histogram{bounds: bounds, counts: make([]atomic.Uint64, len(bounds)+1)}
}

func (h *histogram) observe(v int64) {
	i := 0
	for i < len(h.bounds) && v > h.bounds[i] {
		i++
	}
	h.counts[i].Add(1)
	h.sum.Add(v)
}

// Bucket bounds: fastBounds for the proxy's own work, slowBounds for the work of servers and
// people, and sizeBounds for batch sizes.
var (
	fastBounds = []int64{
		int64(5 * time.Microsecond), int64(10 * time.Microsecond), int64(25 * time.Microsecond), int64(50 * time.Microsecond), int64(100 * time.Microsecond),
		int64(250 * time.Microsecond), int64(time.Millisecond), int64(5 * time.Millisecond), int64(25 * time.Millisecond), int64(100 * time.Millisecond), int64(time.Second),
	}
	slowBounds = []int64{
		int64(time.Millisecond), int64(5 * time.Millisecond), int64(25 * time.Millisecond), int64(100 * time.Millisecond), int64(250 * time.Millisecond),
		int64(time.Second), int64(2500 * time.Millisecond), int64(10 * time.Second), int64(30 * time.Second), int64(time.Minute), int64(5 * time.Minute), int64(15 * time.Minute),
	}
	sizeBounds = []int64{1, 2, 4, 8, 16, 32, 64, 128, 256}
)
