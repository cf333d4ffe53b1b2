package daemon

import (
	"log/slog"
	"os"
	"sync/atomic"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/serve/telemetry"
	"github.com/petrigate/petrigate/proxy"
)

// A monitor makes the proxy's state available to monitoring systems. It collects metrics, sends
// traces if they are configured, and answers health checks. While the proxy is shutting down, it is
// reported as alive but not ready.
type monitor struct {
	proxy    *proxy.Proxy // set by New before the monitor serves requests
	secrets  masker
	log      *slog.Logger
	metrics  *telemetry.Metrics
	tracer   *telemetry.Tracer // nil if traces are disabled
	draining atomic.Bool
}

// newMonitor returns the configured monitor. Invalid OTEL_* environment variables are not an error,
// because they may be meant for another program.
func newMonitor(c *config.Config, log *slog.Logger, secrets masker, version string) (*monitor, error) {
	m := &monitor{secrets: secrets, log: log, metrics: telemetry.NewMetrics()}
	target, err := telemetry.FindTarget(c.Telemetry.Traces, os.Getenv)
	switch {
	case err != nil && c.Telemetry.Traces != "":
		return nil, &InvalidError{err}
	case err != nil:
		log.Warn("not sending traces", "error", err)
	case target != nil:
		if m.tracer, err = telemetry.NewTracer(telemetry.TracerOptions{Target: target, Version: version, Log: log, Metrics: m.metrics}); err != nil {
			return nil, err
		}
		log.Info("sending traces", "collector", target.URL)
	}
	return m, nil
}

// observe sets the proxy's options so that the proxy reports calls and database commits to the
// monitor. If p is not nil, the proxy also reports calls to p, which adjusts the number of
// processors.
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
}

// feed returns an audit feed that stores its records in log and counts them. If log is nil, the
// feed does not store records.
func (m *monitor) feed(log *audit.Log) *audit.Feed {
	if log == nil {
		return audit.NewFeed(nil)
	}
	return audit.NewFeed(m.metrics.Storage(log))
}

// close sends the remaining traces, within a time limit.
func (m *monitor) close() {
	if m != nil && m.tracer != nil {
		m.tracer.Close()
	}
}
