package main

import (
	"io"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
	"time"
)

const (
	quiet      = 250 * time.Millisecond // between two looks at whether the proxy is used
	rest       = time.Minute            // without use, until nobody is expected
	worthwhile = 4 << 20                // bytes that can be given back, for which it is done at once
)

// Thrift gives memory back that the proxy does not need: soon after the start,
// when much has piled up and nothing happens, and when nothing has happened for
// a while. A proxy that is idle for longer is not woken by it.
type thrift struct {
	unused  func() uint64 // bytes of the heap that hold nothing
	release func()        // gives them back

	uses  atomic.Uint64
	awake atomic.Bool // somebody looks; what follows is theirs
	seen  uint64      // of uses, at the last look
	begun bool        // memory was given back once
	rest  *time.Timer // nil: there was no look yet
}

// newThrift begins with the start of the proxy.
func newThrift() *thrift {
	t := &thrift{unused: unusedHeap, release: func() {
		debug.FreeOSMemory()
		_ = dropProgramPages()
	}}
	t.use()
	return t
}

// use notes that the proxy has something to do.
func (t *thrift) use() {
	t.uses.Add(1)
	if !t.awake.Load() {
		t.wake()
	}
}

func (t *thrift) wake() {
	if !t.awake.CompareAndSwap(false, true) {
		return
	}
	if t.rest != nil {
		t.rest.Stop()
	}
	time.AfterFunc(quiet, t.look)
}

// look gives memory back when nothing has happened since the last look: the
// first time in any case, since a start needs more than what follows it, and
// then where it is worth a collection.
func (t *thrift) look() {
	if uses := t.uses.Load(); uses != t.seen {
		t.seen = uses
		time.AfterFunc(quiet, t.look)
		return
	}
	if !t.begun || t.unused() >= worthwhile {
		t.begun = true
		t.release()
	}
	t.rest = time.AfterFunc(rest, t.idle)
	t.sleep()
}

// idle gives all back that can be.
func (t *thrift) idle() {
	if t.awake.CompareAndSwap(false, true) {
		t.release()
		t.sleep()
	}
}

// sleep leaves it to the next use to wake. One that came while somebody looked
// has not.
func (t *thrift) sleep() {
	seen := t.seen
	t.awake.Store(false)
	if t.uses.Load() != seen {
		t.wake()
	}
}

// handler notes the requests that h serves.
func (t *thrift) handler(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.use()
		h.ServeHTTP(w, r)
		t.use() // its answer may have been large
	})
}

// reader notes what is read from in.
func (t *thrift) reader(in io.Reader) io.Reader { return &usedReader{in, t} }

type usedReader struct {
	io.Reader
	thrift *thrift
}

// Read reads, and notes that something came.
func (r *usedReader) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	r.thrift.use()
	return n, err
}

// unusedHeap is what a collection could give back: the heap that the process
// has from the system, but for what the last collection found in use.
func unusedHeap() uint64 {
	s := []metrics.Sample{
		{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/unused:bytes"},
		{Name: "/memory/classes/heap/free:bytes"}, {Name: "/gc/heap/live:bytes"},
	}
	metrics.Read(s)
	held, live := s[0].Value.Uint64()+s[1].Value.Uint64()+s[2].Value.Uint64(), s[3].Value.Uint64()
	return held - min(held, live)
}

// sparse lets the collector run less often than usual, unless the user says
// how often: what a proxy keeps is small, and what it makes for a call is not
// needed after it. Where much is kept, as for many sessions, the same share of
// it would be far more than calls make: there the collector runs as usual.
func sparse() {
	if os.Getenv("GOGC") != "" {
		return
	}
	debug.SetGCPercent(percent(0))
	follow(percent(0), func(p int) { debug.SetGCPercent(p) })
}

// follow has the share of garbage set anew after each collection, where it is
// another. It is what is collected itself that tells of the collection.
func follow(now int, set func(percent int)) {
	runtime.AddCleanup(new(collected), func(now int) {
		s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(s)
		p := percent(s[0].Value.Uint64())
		if p != now { // setting it stops the world
			set(p)
		}
		follow(p, set)
	}, now)
}

// A collected tells of a collection. It is larger than what the runtime packs
// together with other things.
type collected struct{ _ [16]byte }

// percent is how much garbage there may be, as a share of what is in use.
func percent(live uint64) int {
	switch {
	case live < 12<<20:
		return 400
	case live < 24<<20:
		return 200
	default:
		return 100
	}
}
