package main

import (
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestThriftWaitsForQuiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var released, unused atomic.Uint64
		th := &thrift{unused: unused.Load, release: func() { released.Add(1) }}
		await := func(d time.Duration, want uint64, when string) {
			t.Helper()
			<-time.After(d) // of the bubble: no time passes
			synctest.Wait()
			if n := released.Load(); n != want {
				t.Errorf("%s: memory was given back %d times, want %d", when, n, want)
			}
		}
		await(time.Hour, 0, "before any use")
		for range 20 {
			th.use()
			await(quiet/2, 0, "while in use")
		}
		await(3*quiet, 1, "after the start")
		th.use()
		await(rest, 1, "after a use that left nothing to give back")
		await(3*quiet, 2, "after a while without a use")
		unused.Store(worthwhile)
		await(24*time.Hour, 2, "while nothing is asked for")
		th.use()
		await(3*quiet, 3, "after a use that left something")
		await(24*time.Hour, 4, "while nothing is asked for")
	})
}

func TestThriftSeesUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := &thrift{unused: func() uint64 { return 0 }, release: func() {}}
		h := th.handler(http.NotFoundHandler())
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
		if n := th.uses.Load(); n != 2 { // its answer is one
			t.Errorf("a request makes %d uses", n)
		}
		if n, err := th.reader(strings.NewReader("{}\n")).Read(make([]byte, 8)); n != 3 || err != nil {
			t.Errorf("Read: %d bytes, %v", n, err)
		}
		if n := th.uses.Load(); n != 3 {
			t.Errorf("a request and a read make %d uses", n)
		}
		<-time.After(time.Hour) // what looks must end: synctest would say that it does not
	})
}

func TestPercent(t *testing.T) {
	for _, c := range []struct {
		live uint64
		want int
	}{{0, 400}, {12<<20 - 1, 400}, {12 << 20, 200}, {24 << 20, 100}, {1 << 40, 100}} {
		if got := percent(c.live); got != c.want {
			t.Errorf("percent(%d) = %d, want %d", c.live, got, c.want)
		}
	}
}

// TestFollow: what is in use after a collection counts.
func TestFollow(t *testing.T) {
	kept := make([]byte, 64<<20)
	set := make(chan int, 1)
	follow(400, func(p int) {
		select {
		case set <- p:
		default: // of a collection after the test
		}
	})
	runtime.GC()
	if p := <-set; p != 100 {
		t.Errorf("with %d bytes in use the share of garbage is %d", len(kept), p)
	}
	runtime.KeepAlive(kept)
}
