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

// processors has the Go scheduler use one processor while calls come one at a time, and all
// that there are while more are in flight. Where a goroutine becomes ready the scheduler wakes a
// thread to look for others; with one call in flight there are none. On a machine of two
// processors that thread keeps the client or the server waiting, and calls over HTTP take a
// tenth longer by it. nil leaves the scheduler as it is.
type processors struct {
	set      func(one bool)
	inFlight atomic.Int64 // calls
	alone    atomic.Int64 // calls in a row that began while no other was in flight

	mu   sync.Mutex
	held int // how many need all processors
	one  bool
}

// minAlone is how many calls in a row have to be alone: a change stops all goroutines for a moment.
const minAlone = 32

// newProcessors returns the processors of a process that is for the proxy alone; nil: they are
// not worth a change, or GOMAXPROCS says how many they are. A call from pipe to pipe is faster
// with two.
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

// overHTTP reports whether clients or servers are reached over HTTP.
func overHTTP(c *config.Config) bool {
	for _, s := range c.Servers {
		if s.URL != "" {
			return true
		}
	}
	return c.Listen.HTTP != ""
}

// begin notes that a call goes to its server.
func (p *processors) begin() {
	if p.inFlight.Add(1) > 1 {
		if p.alone.Load() > 0 && p.alone.Swap(0) >= minAlone {
			p.update()
		}
	} else if p.alone.Add(1) == minAlone {
		p.update()
	}
}

// end notes that a call is not in flight any more.
func (p *processors) end() { p.inFlight.Add(-1) }

// useAll has all processors used, for work beside the calls, until release.
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

// update changes how many are used, if the calls have changed.
func (p *processors) update() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if one := p.held == 0 && p.alone.Load() >= minAlone; one != p.one {
		p.one = one
		p.set(one)
	}
}

// A loadMeter counts calls for metrics, and for the processors.
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
