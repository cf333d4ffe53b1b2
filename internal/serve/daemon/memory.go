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
	startDelay = 3 * time.Second  // delay between startup and the first release of memory; servers have usually listed their tools by then
	idleDelay  = 10 * time.Second // delay between the last garbage collection and the next release of memory

	maxPercent    = 400      // maximum GC percentage, for a small live heap
	minPercent    = 50       // minimum GC percentage, for the largest heaps
	garbageTarget = 48 << 20 // amount of garbage, in bytes, that should trigger a collection
	minRelease    = 16 << 20 // minimum number of bytes worth releasing
)

// TuneMemory makes the garbage collector run less often while the live heap is small, because most
// memory allocated by a call is garbage as soon as the call ends. It also returns unused memory to
// the operating system after startup and after peaks. If GOGC is set, TuneMemory does not change
// how often the collector runs.
func TuneMemory() {
	t := &tuner{free: debug.FreeOSMemory, quiet: idleDelay}
	if os.Getenv("GOGC") == "" {
		t.set = func(percent int) { debug.SetGCPercent(percent) }
		t.setPercent(maxPercent)
	}
	t.watch()
	time.AfterFunc(startDelay, t.release)
}

// A tuner adjusts the GC percentage after each collection, and releases unused memory. If the
// percentage were always maxPercent, the heap could grow to five times the size of the live data,
// which is too much while large calls are waiting for approval.
type tuner struct {
	set   func(percent int) // sets the GC percentage; nil if GOGC determines it
	free  func()            // runs a collection and releases unused memory
	quiet time.Duration
	idle  *time.Timer // calls giveBack when it expires; each collection may reset it

	percent            int
	mappedAfterRelease atomic.Uint64 // number of bytes mapped for the heap after the last release
	ended              atomic.Bool
}

// watch makes t.collected run after each garbage collection. It must be called only once.
func (t *tuner) watch() {
	t.idle = time.AfterFunc(t.quiet, t.giveBack)
	t.awaitCollection()
}

// awaitCollection makes t.collected run after the next garbage collection.
func (t *tuner) awaitCollection() {
	type mark struct{ _ *byte } // contains a pointer, so that the tiny allocator does not combine the value with others
	runtime.AddCleanup(new(mark), (*tuner).collected, t)
}

// collected runs after each garbage collection. It adjusts the GC percentage and, if there is
// memory to release, restarts the timer for releasing it.
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

// grown reports whether the heap has grown considerably since memory was last released. If it has,
// a release is worthwhile even if most of the heap was live at the last collection. Much of it may
// be garbage by now, but an idle process does not run another collection for two minutes.
func (t *tuner) grown(mapped uint64) bool { return mapped > t.mappedAfterRelease.Load()+minRelease }

// setPercent sets the GC percentage. It ignores small changes, because each change briefly stops
// all goroutines.
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

// percentFor returns the GC percentage for a live heap of the given size in bytes.
func percentFor(live uint64) int {
	return int(max(minPercent, min(maxPercent, 100*garbageTarget/max(live, 1))))
}

// giveBack releases unused memory to the operating system if there is enough to release.
func (t *tuner) giveBack() {
	if live, mapped := heap(); (mapped > live+minRelease || t.grown(mapped)) && !t.ended.Load() {
		t.release()
	}
}

// release releases unused memory to the operating system and records how much is still mapped.
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

// heap returns the size of the live heap as of the last collection, and the size of the memory
// mapped for the heap, both in bytes.
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
