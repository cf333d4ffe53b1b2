package proxy

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/hook"
	"github.com/petrigate/petrigate/internal/runtime/store"
	"github.com/petrigate/petrigate/proxy/internal/seal"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wait"
)

// A Proxy is an MCP proxy that forwards a call to its server only if the policy allows the call. It
// is safe for concurrent use.
type Proxy struct {
	Hooks *hook.Gate // gate for calls that agents report through their hooks

	*parts
	approvalControl
	sessionView
}

// ServeStdio serves one client. It reads the client's messages from in, one per line, and writes
// nothing but the proxy's messages to out. It returns at the end of in, when ctx is done, or when a
// write to out fails. Calls that are still unanswered are then canceled. Call ServeStdio only
// once per connection. If out supports write deadlines, ServeStdio sets one when ctx is done, so
// that a client that does not read cannot block the shutdown.
func (p *Proxy) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	return p.front.ServeStdio(ctx, in, out)
}

// Handler returns an HTTP handler that serves streamable HTTP at the endpoint. It also serves
// clients that use revision 2024-11-05, at /sse and /messages. The [Access] determines who can use
// the handler.
func (p *Proxy) Handler(a Access) (http.Handler, error) { return p.front.Handler(a) }

// Start connects to all upstreams concurrently, in the background.
func (p *Proxy) Start() {
	p.keepState()
	p.life.Background(func() { p.admission.Unwritten.Run(p.life.Ctx) })
	p.life.Background(func() {
		if wait.Sleep(p.life.Ctx, p.options.Startup) {
			p.warnOfSlowStarts()
		}
		p.endStartup()
	})
	if p.advertiser != nil {
		p.life.Background(p.advertiser.Run)
	}
	for _, u := range p.pool.Servers {
		p.life.Background(func() { p.pool.Sweep(u) })
		u.Start(p.life.Ctx)
	}
}

// warnOfSlowStarts logs a warning about each upstream that is still starting. It is called when the
// startup time is over and list requests stop waiting for such upstreams.
func (p *Proxy) warnOfSlowStarts() {
	for _, u := range p.pool.Servers {
		if u.State().Phase == upstream.Starting {
			p.life.Log.Warn("upstream has not responded yet: its tools are listed when it does", "upstream", u.Config.Name, "waited", p.options.Startup)
		}
	}
}

// Drain ends the clients' notification streams, so that an HTTP server that is shutting down waits
// only for calls.
func (p *Proxy) Drain() { p.endStreams() }

// Close closes the upstreams and ends all background work. When it returns, the outcomes of all
// calls that were in flight have been recorded.
func (p *Proxy) Close() error {
	p.life.End()
	var all []error
	for _, u := range p.pool.Connections() {
		all = append(all, u.Close())
	}
	p.life.Wait()
	return errors.Join(append(all, p.watchdog.Close())...)
}

// Begin records the start of this process, together with its policy and the name of the driver that
// stores the session states, such as "memory". It must be called before [Proxy.Start].
func (p *Proxy) Begin(driver string) {
	p.admission.Begin(p.life.Ctx, audit.Process{Version: p.options.Version, Driver: driver})
}

// Finish records the end of this process. It must be called after [Proxy.Close].
func (p *Proxy) Finish() { p.admission.Finish(context.WithoutCancel(p.life.Ctx)) }

// makeLedger creates the ledger, which holds the session states, and the switch, which operators
// use to stop calls. Both use the database in the options or, without one, memory.
func (p *Proxy) makeLedger() (admission.Ledger, admission.Switch) {
	o := p.options
	if o.Database == nil {
		recorder := audit.NewRecorder(o.Recorder, o.Now)
		return store.NewMemory(o.Policy, o.Active, p.approvals, recorder), store.NewStops(recorder)
	}
	durable := store.NewDurable(p.life.Ctx, store.DurableOptions{Backend: o.Database, Policy: o.Policy, Active: o.Active, Recorder: audit.NewRecorder(o.Recorder, o.Now), Logger: o.Logger, Now: o.Now})
	stops := store.SharedStops(o.Database)
	p.durable, p.watcher = durable, store.NewWatcher(o.Database)
	p.watcher.Register(stops.Watch(o.Logger))
	p.watcher.Register(p.approvals.Refresh)
	return durable, stops
}

// heartbeat is the interval between this process's heartbeats in the database.
const heartbeat = 5 * time.Second

// keepState starts the background work on the database: watching it for changes, sending
// heartbeats, and removing old records. It also ends calls whose clients have not provided the
// requested input in time.
func (p *Proxy) keepState() {
	if p.durable == nil {
		return
	}
	p.options.Pins.follow(p.watcher)
	p.life.Background(func() { p.watcher.Run(p.life.Ctx) })
	if keep := p.options.Keep; keep > 0 {
		p.life.Background(func() { store.NewRetention(p.durable, keep).Run(p.life.Ctx) })
	}
	p.life.Background(func() {
		tick := time.NewTicker(heartbeat)
		defer tick.Stop()
		for {
			if err := p.durable.Beat(p.life.Ctx); err != nil && p.life.Ctx.Err() == nil {
				p.life.Log.Debug("could not announce this process in the state database", "error", err)
			}
			p.rounds.EndOld(p.life.Ctx)
			if !wait.For(p.life.Ctx, tick.C) {
				return
			}
		}
	})
}

// leaveTimeout is how long [Proxy.Leave] may take.
const leaveTimeout = 2 * time.Second

// Leave tells the database that this process has ended. It must be called after [Proxy.Close] and
// before closing the database.
func (p *Proxy) Leave() error {
	if p.durable == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), leaveTimeout)
	defer cancel()
	return p.durable.Close(ctx)
}

// sharesState reports whether the session states are in a database that other processes can share.
func (p *Proxy) sharesState() bool { return p.durable != nil }

// sealer returns a sealer, which encrypts state that a client stores while its call waits for an
// approval or for input. Processes that share a database also share the sealer's key.
func (p *Proxy) sealer() *seal.Sealer {
	var key seal.Key
	if p.durable != nil {
		key = p.durable.RoundKey
	}
	return seal.New(key, p.options.Now)
}
