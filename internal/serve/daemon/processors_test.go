package daemon

import (
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/serve/telemetry"
)

// TestProcessorsFollowCalls checks that a single processor is used once calls have arrived one at a
// time for a while, and all processors as soon as two calls are in flight or something else needs
// them.
func TestProcessorsFollowCalls(t *testing.T) {
	var changes []bool
	p := &processors{set: func(one bool) { changes = append(changes, one) }}
	expect := func(want ...bool) {
		t.Helper()
		if !slices.Equal(changes, want) {
			t.Fatalf("changes to one processor: %v, want %v", changes, want)
		}
		changes = nil
	}
	calls := func(n int) {
		for range n {
			p.begin()
			p.end()
		}
	}
	calls(minAlone - 1)
	expect()
	calls(1)
	expect(true)
	calls(5 * minAlone)
	expect()
	p.begin()
	p.begin()
	expect(false)
	p.begin()
	for range 3 {
		p.end()
	}
	calls(minAlone - 1)
	expect()
	calls(1)
	expect(true)

	first, second := p.useAll(), p.useAll()
	expect(false)
	first()
	calls(2 * minAlone)
	expect()
	second()
	expect(true)

	var none *processors
	none.useAll()()
}

// TestProcessorsConcurrently checks that, with concurrent calls, all processors are used while two
// calls are in flight.
func TestProcessorsConcurrently(t *testing.T) {
	var mu sync.Mutex
	one := false
	p := &processors{set: func(now bool) {
		mu.Lock()
		defer mu.Unlock()
		one = now
	}}
	var calls sync.WaitGroup
	for range 4 {
		calls.Go(func() {
			for range 10_000 {
				p.begin()
				p.end()
			}
		})
	}
	calls.Wait()
	p.begin()
	p.begin()
	mu.Lock()
	defer mu.Unlock()
	if one || p.inFlight.Load() != 2 {
		t.Errorf("one processor: %t, with %d calls in flight", one, p.inFlight.Load())
	}
}

// TestProcessorsAreOptional checks that GOMAXPROCS is not changed if the user has set it, on
// unsuitable machines, or if nothing uses HTTP.
func TestProcessorsAreOptional(t *testing.T) {
	piped := &config.Config{Servers: []config.Server{{Command: "x"}}, Listen: config.Listen{Stdio: true}}
	remote := &config.Config{Servers: []config.Server{{URL: "http://localhost"}}, Listen: config.Listen{Stdio: true}}
	listening := &config.Config{Servers: piped.Servers, Listen: config.Listen{HTTP: "localhost:0"}}
	t.Setenv("GOMAXPROCS", "")
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	if newProcessors(piped) != nil || newProcessors(remote) == nil || newProcessors(listening) == nil {
		t.Error("calls over HTTP, and no others, are worth it")
	}
	runtime.GOMAXPROCS(3)
	if newProcessors(remote) != nil {
		t.Error("three processors are enough for all")
	}
	runtime.GOMAXPROCS(2)
	p := newProcessors(remote)
	m := loadMeter{telemetry.NewMetrics(), p}
	for range minAlone {
		m.Forwarding("x")
		m.Forwarded("x", "", "", time.Second, nil)
	}
	if n := runtime.GOMAXPROCS(0); n != 1 {
		t.Errorf("%d processors for calls one at a time", n)
	}
	m.Forwarding("x")
	m.Forwarding("x")
	if n := runtime.GOMAXPROCS(0); n == 1 && runtime.NumCPU() > 1 {
		t.Error("one processor for two calls at a time")
	}
	t.Setenv("GOMAXPROCS", "2")
	if newProcessors(remote) != nil {
		t.Error("the user has set GOMAXPROCS")
	}
}
