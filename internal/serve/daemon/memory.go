package daemon

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
	"time"
)

const (
	startDelay = 3 * time.Second  // usual maximum time until the servers have listed their tools
	idleDelay  = 10 * time.Second // time without a collection before memory is released

	maxPercent    = 400      // GC percentage while the live heap is small
	minPercent    = 50       // GC percentage for the largest heaps
	garbageTarget = 48 << 20 // target size of the garbage in bytes
	minRelease    = 16 << 20 // minimum number of bytes to release
)

// TuneMemory makes the garbage collector run less often while the live heap is small, unless GOGC
// is set: most of what a call allocates is garbage after it. Memory that only the start or a peak
// needed is released to the system.
func TuneMemory() {
	t := &tuner{free: debug.FreeOSMemory, quiet: idleDelay}
	if os.Getenv("GOGC") == "" {
		t.set = func(percent int) { debug.SetGCPercent(percent) }
		t.setPercent(maxPercent)
	}
	t.watch()
	time.AfterFunc(startDelay, t.release)
}

// A tuner adjusts the collector after each collection. A fixed percentage would let large calls
// that wait for people use five times their size.
type tuner struct {
	set   func(percent int) // sets the GC percentage; nil: GOGC sets it
	free  func()            // collects garbage and releases unused memory
	quiet time.Duration
	idle  *time.Timer // restarted after each collection

	percent            int
	mappedAfterRelease atomic.Uint64 // mapped bytes after the last release
	ended              atomic.Bool
}

// watch calls collected after each collection. It must be called only once.
func (t *tuner) watch() {
	t.idle = time.AfterFunc(t.quiet, t.giveBack)
	t.awaitCollection()
}

// awaitCollection arranges for collected to be called after the next collection.
func (t *tuner) awaitCollection() {
	type mark struct{ _ *byte } // a pointer, so that it does not share its allocation with another value
	runtime.AddCleanup(new(mark), (*tuner).collected, t)
}

// collected runs after a collection.
func (t *tuner) collected() {
	if t.ended.Load() {
		return
	}
	defer t.awaitCollection()
	live, mapped := heap()
	t.setPercent(percentFor(live))
	if mapped > live+minRelease || t.grown(mapped) {
		t.idle.Reset(t.quiet)
	}
}

// grown reports whether the heap has grown since the last release: what this collection found live
// may be garbage by now, and no other collection may follow.
func (t *tuner) grown(mapped uint64) bool { return mapped > t.mappedAfterRelease.Load()+minRelease }

// setPercent sets the percentage of the collector. It ignores small changes, because a change stops
// all goroutines for a moment.
func (t *tuner) setPercent(percent int) {
	if t.set == nil || percent != maxPercent && abs(percent-t.percent) <= t.percent/8 {
		return
	}
	if percent != t.percent {
		t.percent = percent
		t.set(percent)
	}
}

func abs(n int) int { return max(n, -n) }

// percentFor returns the percentage for a heap with this number of live bytes.
func percentFor(live uint64) int {
	return int(max(minPercent, min(maxPercent, 100*garbageTarget/max(live, 1))))
}

// giveBack releases unused memory to the system, if that is worth a collection.
func (t *tuner) giveBack() {
	if live, mapped := heap(); (mapped > live+minRelease || t.grown(mapped)) && !t.ended.Load() {
		t.release()
	}
}

// release releases unused memory to the system and records how much is left.
func (t *tuner) release() {
	t.free()
	_, mapped := heap()
	t.mappedAfterRelease.Store(mapped)
}

// end stops the tuner.
func (t *tuner) end() {
	t.ended.Store(true)
	t.idle.Stop()
}

// heap returns the bytes that the last collection found live, and the bytes that the process has
// mapped for the heap.
func heap() (live, mapped uint64) {
	of := []metrics.Sample{
		{Name: "/gc/heap/live:bytes"},
		{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/unused:bytes"}, {Name: "/memory/classes/heap/free:bytes"},
	}
	metrics.Read(of)
	for _, s := range of[1:] {
		mapped += s.Value.Uint64()
	}
	return of[0].Value.Uint64(), mapped
}
