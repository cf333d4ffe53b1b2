package proxy

import (
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/hook"
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
// only the proxy's messages to out. It returns when in ends, when ctx ends, or when a write to out
// fails; calls that have not been answered by then are cancelled. It must be called only once for
// each connection. If out supports write deadlines, ServeStdio sets a deadline when ctx ends, so
// that a client that does not read cannot block the shutdown.
func (p *Proxy) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	return p.front.ServeStdio(ctx, in, out)
}

// Handler returns an HTTP handler for streamable HTTP in both revision families. The handler also
// serves clients that use revision 2024-11-05, at the two endpoints /sse and /messages. The access
// settings configure who can use the handler; see [Access].
func (p *Proxy) Handler(a Access) (http.Handler, error) { return p.front.Handler(a) }

// Start connects to all upstreams at the same time, in the background.
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

// warnOfSlowStarts logs the upstreams that are still starting. List requests no longer wait for
// their tools.
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

// Close ends the upstreams and all background work. When it returns, the outcome of each call that
// was in flight has been recorded.
func (p *Proxy) Close() error {
	p.life.End()
	var all []error
	for _, u := range p.pool.Connections() {
		all = append(all, u.Close())
	}
	p.life.Wait()
	return errors.Join(append(all, p.watchdog.Close())...)
}

// Begin records that this process has started, along with its policy and the driver of its states,
// such as memory. It must be called before [Proxy.Start].
func (p *Proxy) Begin(driver string) {
	p.admission.Begin(p.life.Ctx, audit.Process{Version: p.options.Version, Driver: driver})
}

// Finish records that this process has ended. It must be called after [Proxy.Close].
func (p *Proxy) Finish() { p.admission.Finish(context.WithoutCancel(p.life.Ctx)) }
