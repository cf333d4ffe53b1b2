package daemon

import (
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"testing"
	"time"
)

// TestPercentFor checks that the garbage may be a multiple of a small live heap, a fixed amount for
// a larger one, and half the size of a very large one.
func TestPercentFor(t *testing.T) {
	for live, want := range map[uint64]int{0: 400, 5 << 20: 400, 12 << 20: 400, 24 << 20: 200, 64 << 20: 75, 96 << 20: 50, 1 << 30: 50} {
		if got := percentFor(live); got != want {
			t.Errorf("%d bytes: %d percent, want %d", live, got, want)
		}
	}
}

// holding calls f while n bytes are live.
func holding(n int, f func()) {
	held := make([]byte, n)
	clear(held)
	f()
	runtime.KeepAlive(held)
}

// collect runs garbage collections until done returns true, because the tuner may miss a collection
// that immediately follows another.
func collect(done func() bool) {
	for !done() {
		runtime.GC()
	}
}

// TestTunerSetsPercent checks that each collection adjusts the percentage, upward or downward, and
// that small changes are ignored.
func TestTunerSetsPercent(t *testing.T) {
	var pace atomic.Int64
	tuner := &tuner{quiet: time.Hour, set: func(percent int) { pace.Store(int64(percent)) }}
	tuner.watch()
	holding(128<<20, func() { collect(func() bool { return pace.Load() == minPercent }) })
	collect(func() bool { return pace.Load() > minPercent })
	tuner.end()

	still := newTunerAt(100, t)
	still.setPercent(110)
	still.setPercent(90)
	if still.percent != 100 {
		t.Errorf("set to %d", still.percent)
	}
}

// newTunerAt returns a tuner that has already set a percentage and must not set another one.
func newTunerAt(percent int, t *testing.T) *tuner {
	return &tuner{percent: percent, set: func(percent int) { t.Errorf("set to %d", percent) }}
}

// TestTunerReleasesPeak checks that memory used during a peak is released after the last
// collection, unless the amount is small.
func TestTunerReleasesPeak(t *testing.T) {
	var freed atomic.Bool
	tuner := &tuner{free: func() {
		debug.FreeOSMemory()
		freed.Store(true)
	}}
	tuner.idle = time.AfterFunc(time.Hour, tuner.giveBack) // runs immediately after a collection
	tuner.awaitCollection()
	defer tuner.end()
	holding(96<<20, runtime.GC)
	collect(freed.Load)
	tuner.release()
	freed.Store(false)
	if tuner.giveBack(); freed.Load() {
		t.Error("memory is given back where little is unused")
	}
}

// TestTunerChecksPeakOnce checks that a peak that was live at the last collection is checked again,
// because there might be no other collection, and that memory that stays live is not checked twice.
func TestTunerChecksPeakOnce(t *testing.T) {
	freed := 0
	tuner := &tuner{quiet: time.Hour, free: func() {
		freed++
		debug.FreeOSMemory()
	}}
	tuner.idle = time.AfterFunc(time.Hour, func() {})
	armed := func() bool {
		tuner.idle.Stop()
		tuner.collected()
		return tuner.idle.Stop()
	}
	defer tuner.end()
	tuner.release()
	holding(96<<20, func() {
		debug.FreeOSMemory() // all mapped memory is live
		if !armed() {
			t.Error("what has grown is not looked at again")
		}
		if tuner.giveBack(); freed != 2 {
			t.Errorf("memory was given back %d times", freed)
		}
		if tuner.giveBack(); freed != 2 || armed() {
			t.Error("what stays live is looked at twice")
		}
	})
}
