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

// A monitor exports the state of the proxy: it counts, makes traces if configured, and knows
// whether the proxy is shutting down.
type monitor struct {
	metrics  *telemetry.Metrics
	tracer   *telemetry.Tracer // nil: no traces
	draining atomic.Bool
}

// newMonitor returns the monitor of a configuration. Invalid environment variables, which may be
// meant for another program, do not prevent the start.
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

// observe makes the proxy with these options report to the monitor.
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

// close sends the remaining traces, within a time limit.
func (m *monitor) close() {
	if m != nil && m.tracer != nil {
		m.tracer.Close()
	}
}

// endpoint returns the endpoint for metrics and health checks.
func (d *Daemon) endpoint() *telemetry.Endpoint {
	return &telemetry.Endpoint{Metrics: d.monitor.metrics, State: d.telemetryState, Missing: d.notReady}
}

// telemetryState returns the current state for the metrics.
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

// notReady returns the reasons why the proxy is not ready.
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

// maxMetricsConns is the maximum number of connections to the metrics address.
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
	host, _, _ := net.SplitHostPort(addr) // listening has succeeded, so the address is valid
	open := !IsLoopback(host)
	if open {
		d.log.Warn("metrics are open to everybody who reaches this address, and tell the names of servers and tools", "address", listener.Addr().String())
	}
	server := newServer(d.endpoint().Handler(func(r *http.Request) bool {
		return proxy.Local(r) || open && r.URL.Path == "/metrics"
	}), config.Listen{})
	server.WriteTimeout = writeTimeout
	d.log.Info("serving metrics", "url", "http://"+shownAddr(listener)+"/metrics")
	go func() { _ = listener.serve(server, false) }() // ends with the server
	return func() { _ = server.Close() }, nil
}
