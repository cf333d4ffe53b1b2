package daemon

import (
	"net"
	"net/http"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/serve/telemetry"
	"github.com/petrigate/petrigate/proxy"
)

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

// maxMetricsConns is the maximum number of connections to the metrics address.
const maxMetricsConns = 64
