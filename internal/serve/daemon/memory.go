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
	startDelay = 3 * time.Second  // how long a proxy takes at most, as a rule, until its servers have listed their tools
	idleDelay   = 10 * time.Second // without a collection, until memory is given back

	maxPercent    = 400      // percent of what is live that may be garbage, while that is little
	minPercent  = 50       // percent, however much is live
	garbageTarget      = 48 << 20 // bytes that garbage may take beside what is live
	minRelease = 16 << 20 // bytes that are given back, and no less
)

// TuneMemory lets the collector run less often than usual while the proxy keeps little, unless
// GOGC sets the pace: most of what a call allocates is garbage after it. Memory that only the start or
// a peak needed goes back to the system.
func TuneMemory() {
	t := &tuner{free: debug.FreeOSMemory, quiet: idleDelay}
	if os.Getenv("GOGC") == "" {
		t.set = func(percent int) { debug.SetGCPercent(percent) }
		t.setPercent(maxPercent)
	}
	t.watch()
	time.AfterFunc(startDelay, t.release)
}

// A tuner looks at the heap after each collection. A percentage alone would let calls of
// megabytes that wait for people take five times their size.
type tuner struct {
	set   func(percent int) // of the collector; nil: GOGC says it
	free  func()            // collects, and gives back what is not used
	quiet time.Duration
	idle  *time.Timer // from the last collection on

	percent int
	mappedAfterRelease    atomic.Uint64 // bytes from the system after memory was given back last
	ended   atomic.Bool
}

// watch calls collected after each collection. It is not to be called while it watches.
func (t *tuner) watch() {
	t.idle = time.AfterFunc(t.quiet, t.giveBack)
	t.awaitCollection()
}

// awaitCollection has the next collection find a value that nothing refers to.
func (t *tuner) awaitCollection() {
	type mark struct{ _ *byte } // a pointer, so that it shares its place with no other value
	runtime.AddCleanup(new(mark), (*tuner).collected, t)
}

// collected follows a collection.
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

// grown reports whether the heap has grown since memory was given back: what this collection found
// live may be garbage by now, and nothing else may follow that collects it.
func (t *tuner) grown(mapped uint64) bool { return mapped > t.mappedAfterRelease.Load()+minRelease }

// setPercent sets the percentage of the collector. A change stops all goroutines for a moment, so
// small ones are left out.
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

// percentFor is the percentage for a heap with so many live bytes.
func percentFor(live uint64) int {
	return int(max(minPercent, min(maxPercent, 100*garbageTarget/max(live, 1))))
}

// giveBack returns unused memory to the system, where that is worth a collection.
func (t *tuner) giveBack() {
	if live, mapped := heap(); (mapped > live+minRelease || t.grown(mapped)) && !t.ended.Load() {
		t.release()
	}
}

// release returns unused memory to the system, and notes how much is left.
func (t *tuner) release() {
	t.free()
	_, mapped := heap()
	t.mappedAfterRelease.Store(mapped)
}

// end has the tuner look at the heap no more.
func (t *tuner) end() {
	t.ended.Store(true)
	t.idle.Stop()
}

// heap returns the bytes of the heap that the last collection found in use, and those that the
// process has from the system for the heap.
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
