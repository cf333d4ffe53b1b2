package daemon

import (
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync/atomic"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/serve/telemetry"
	"github.com/petrigate/petrigate/proxy"
)

// A monitor tells other programs how the proxy does: it counts, makes traces where they
// are wanted, and knows whether the proxy is ready.
type monitor struct {
	metrics  *telemetry.Metrics
	tracer   *telemetry.Tracer // nil: traces are not wanted
	draining atomic.Bool
}

// newMonitor returns the monitor of a configuration. Variables of the environment, which may
// be meant for another program, keep no proxy from starting.
func newMonitor(c *config.Config, log *slog.Logger, version string) (*monitor, error) {
	m := &monitor{metrics: telemetry.NewMetrics()}
	target, err := telemetry.FindTarget(c.Telemetry.Traces, os.Getenv)
	switch {
	case err != nil && c.Telemetry.Traces != "":
		return nil, &InvalidError{err}
	case err != nil:
		log.Warn("no traces are sent", "error", err)
	case target != nil:
		if m.tracer, err = telemetry.NewTracer(telemetry.TracerOptions{Target: target, Version: version, Log: log, Metrics: m.metrics}); err != nil {
			return nil, err
		}
		log.Info("traces are sent", "collector", target.URL)
	}
	return m, nil
}

// observe has the proxy of the options observed.
func (m *monitor) observe(o *proxy.Options, p *processors) {
	o.Meter = m.metrics
	if p != nil {
		o.Meter = loadMeter{m.metrics, p}
	}
	if m.tracer != nil {
		o.Observer = m.tracer
	}
	if o.Database != nil {
		o.Database = m.metrics.Backend(o.Database)
	}
	if o.Recorder != nil {
		o.Recorder = m.metrics.Storage(o.Recorder)
	}
}

// close sends what has not been sent, for a while.
func (m *monitor) close() {
	if m != nil && m.tracer != nil {
		m.tracer.Close()
	}
}

// endpoint returns what other programs may ask.
func (d *Daemon) endpoint() *telemetry.Endpoint {
	return &telemetry.Endpoint{Metrics: d.monitor.metrics, State: d.telemetryState, Missing: d.notReady}
}

// telemetryState is the proxy as it is now, for its counts.
func (d *Daemon) telemetryState() telemetry.State {
	s := d.Overview()
	t := telemetry.State{
		Version: s.Version, Started: s.Started, Sessions: s.Sessions, Clients: s.Clients, Tools: s.Tools, Asking: s.Waiting, Goroutines: s.Goroutines,
	}
	for _, u := range s.Upstreams {
		t.Upstreams = append(t.Upstreams, telemetry.Upstream{Name: u.Name, State: u.State})
	}
	return t
}

// notReady says what the proxy is not ready for want of.
func (d *Daemon) notReady() []string {
	var all []string
	if d.monitor.draining.Load() {
		all = append(all, "the proxy is ending")
	}
	if err := d.Ready(); err != nil {
		all = append(all, "decisions: "+d.secrets.Replace(err.Error()))
	}
	for _, u := range d.upstreamStates() {
		if u.State != "up" {
			line := "upstream " + u.Name + ": " + u.State
			if u.Error != "" {
				line += ", " + u.Error
			}
			all = append(all, line)
		}
	}
	return all
}

// maxMetricsConns is how many connections those who read metrics may have open.
const maxMetricsConns = 64

// serveMonitor serves the endpoint at the address of telemetry.metrics, until stop.
func (d *Daemon) serveMonitor() (stop func(), err error) {
	addr := d.config.Telemetry.Metrics
	if addr == "" {
		return func() {}, nil
	}
	listener, err := listenAt(addr, smallLimits(maxMetricsConns), d.log)
	if err != nil {
		return nil, listenError(addr, err)
	}
	host, _, _ := net.SplitHostPort(addr) // somebody listens there
	open := !IsLoopback(host)
	if open {
		d.log.Warn("metrics are open to everybody who reaches this address, and tell the names of servers and tools", "address", listener.Addr().String())
	}
	server := newServer(d.endpoint().Handler(func(r *http.Request) bool {
		return proxy.Local(r) || open && r.URL.Path == "/metrics"
	}), config.Listen{})
	server.WriteTimeout = writeTimeout
	d.log.Info("serving metrics", "url", "http://"+shownAddr(listener)+"/metrics")
	go func() { _ = listener.serve(server, false) }() // it ends with the server
	return func() { _ = server.Close() }, nil
}
