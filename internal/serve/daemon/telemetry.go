package daemon

import (
	"net"
	"net/http"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/serve/telemetry"
	"github.com/petrigate/petrigate/proxy"
)

// endpoint returns the HTTP endpoint for metrics and health checks.
func (m *monitor) endpoint() *telemetry.Endpoint {
	return &telemetry.Endpoint{Metrics: m.metrics, State: m.proxy.Overview, Missing: m.notReady}
}

// notReady returns the reasons why the proxy is not ready. If the proxy is ready, the result is
// empty.
func (m *monitor) notReady() []string {
	var all []string
	if m.draining.Load() {
		all = append(all, "the proxy is shutting down")
	}
	if err := m.proxy.Ready(); err != nil {
		all = append(all, "decisions: "+m.secrets.Replace(err.Error()))
	}
	upstreams := m.proxy.Overview().Upstreams // unlike Status, Overview does not query the database
	m.secrets.maskUpstreams(upstreams)
	for _, u := range upstreams {
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

// serve serves metrics and health checks at addr until stop is called. If addr is empty, it does
// nothing.
func (m *monitor) serve(addr string) (stop func(), err error) {
	if addr == "" {
		return func() {}, nil
	}
	listener, err := listenAt(addr, smallLimits(maxMetricsConns), m.log)
	if err != nil {
		return nil, listenError(addr, err)
	}
	host, _, _ := net.SplitHostPort(addr) // cannot fail: the listener uses this address
	open := !IsLoopback(host)
	if open {
		m.log.Warn("metrics are open to everyone who can reach this address, and reveal the names of servers and tools", "address", listener.Addr().String())
	}
	server := newServer(m.endpoint().Handler(func(r *http.Request) bool {
		return proxy.Local(r) || open && r.URL.Path == "/metrics"
	}), config.Listen{})
	server.WriteTimeout = writeTimeout
	m.log.Info("serving metrics", "url", "http://"+shownAddr(listener)+"/metrics")
	go func() { _ = listener.serve(server, false) }() // Serve returns when the server is closed
	return func() { _ = server.Close() }, nil
}

// maxMetricsConns is the maximum number of open connections to the metrics address.
const maxMetricsConns = 64
