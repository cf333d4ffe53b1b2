package daemon

import (
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/serve/telemetry"
)

// A processors value limits the Go scheduler to one processor while calls arrive one at a time. It
// lifts the limit while several calls are in flight. Whenever a goroutine becomes ready, the
// scheduler wakes a thread to look for more work. With a single call in flight, the thread finds
// none. On a machine with two processors, it only delays the client or the server, and makes calls
// over HTTP 10% slower. A nil *processors changes nothing.
type processors struct {
	set      func(one bool)
	inFlight atomic.Int64 // number of in-flight calls
	alone    atomic.Int64 // number of consecutive calls that started while no other call was in flight

	mu   sync.Mutex
	held int // number of calls to useAll whose release function has not been called
	one  bool
}

// minAlone is the number of consecutive calls that must run alone before the scheduler is limited
// to one processor. A smaller number would cause more changes of the limit, and each change briefly
// stops all goroutines.
const minAlone = 32

// newProcessors returns a processors value if exactly two processors are available, GOMAXPROCS is
// not set, and a client or server uses HTTP. Otherwise, it returns nil, which leaves the number of
// processors unchanged. Calls over stdio are faster with two processors.
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

// overHTTP reports whether any client or server uses HTTP.
func overHTTP(c *config.Config) bool {
	return c.Listen.HTTP != "" || slices.ContainsFunc(c.Servers, func(s config.Server) bool { return s.URL != "" })
}

// begin must be called when a call is sent to its server. It lifts the limit of one processor if
// another call is in flight, and imposes it after enough consecutive calls have run alone.
func (p *processors) begin() {
	if p.inFlight.Add(1) > 1 {
		if p.alone.Load() > 0 && p.alone.Swap(0) >= minAlone {
			p.update()
		}
	} else if p.alone.Add(1) == minAlone {
		p.update()
	}
}

// end must be called when a call has ended at its server.
func (p *processors) end() { p.inFlight.Add(-1) }

// useAll makes all processors available for work other than calls. The caller must call release
// when the work ends.
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

// update imposes or lifts the limit of one processor, depending on the current counts.
func (p *processors) update() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if one := p.held == 0 && p.alone.Load() >= minAlone; one != p.one {
		p.one = one
		p.set(one)
	}
}

// A loadMeter is a [proxy.Meter] that counts calls in the metrics and also reports them to the
// processors.
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
