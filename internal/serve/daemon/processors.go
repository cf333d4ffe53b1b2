package daemon

import (
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/serve/telemetry"
)

// processors makes the Go scheduler use one processor while calls come one at a time, and all
// processors while several are in flight. When a goroutine becomes ready, the scheduler wakes a
// thread to look for other work, which does not exist with one call in flight. On a machine with
// two processors that thread delays the client or the server, and makes calls over HTTP a tenth
// slower. A nil *processors changes nothing.
type processors struct {
	set      func(one bool)
	inFlight atomic.Int64 // calls in flight
	alone    atomic.Int64 // consecutive calls that started while no other was in flight

	mu   sync.Mutex
	held int // number of users that need all processors
	one  bool
}

// minAlone is the number of consecutive lone calls before a change: a change stops all goroutines
// for a moment.
const minAlone = 32

// newProcessors returns nil if changing the number of processors would not pay off, or if
// GOMAXPROCS is set. A call from pipe to pipe is faster with two processors.
func newProcessors(c *config.Config) *processors {
	if os.Getenv("GOMAXPROCS") != "" || runtime.GOMAXPROCS(0) != 2 || !overHTTP(c) {
		return nil
	}
	return &processors{set: func(one bool) {
		if one {
			runtime.GOMAXPROCS(1)
		} else {
			runtime.SetDefaultGOMAXPROCS()
		}
	}}
}

// overHTTP reports whether clients or servers use HTTP.
func overHTTP(c *config.Config) bool {
	for _, s := range c.Servers {
		if s.URL != "" {
			return true
		}
	}
	return c.Listen.HTTP != ""
}

// begin counts a call that is sent to its server.
func (p *processors) begin() {
	if p.inFlight.Add(1) > 1 {
		if p.alone.Load() > 0 && p.alone.Swap(0) >= minAlone {
			p.update()
		}
	} else if p.alone.Add(1) == minAlone {
		p.update()
	}
}

// end counts the end of a call.
func (p *processors) end() { p.inFlight.Add(-1) }

// useAll makes all processors available for other work than calls, until release.
func (p *processors) useAll() (release func()) {
	if p == nil {
		return func() {}
	}
	p.hold(1)
	return func() { p.hold(-1) }
}

func (p *processors) hold(n int) {
	p.mu.Lock()
	p.held += n
	p.mu.Unlock()
	p.update()
}

// update changes the number of processors if needed.
func (p *processors) update() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if one := p.held == 0 && p.alone.Load() >= minAlone; one != p.one {
		p.one = one
		p.set(one)
	}
}

// A loadMeter counts calls for the metrics and for the processors.
type loadMeter struct {
	*telemetry.Metrics
	processors *processors
}

// Forwarding implements [proxy.Meter].
func (m loadMeter) Forwarding(upstream string) {
	m.processors.begin()
	m.Metrics.Forwarding(upstream)
}

// Forwarded implements [proxy.Meter].
func (m loadMeter) Forwarded(upstream, tool, method string, took time.Duration, err error) {
	m.processors.end()
	m.Metrics.Forwarded(upstream, tool, method, took, err)
}
