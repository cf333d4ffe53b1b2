package daemon

import (
	"log/slog"
	"os"
	"sync/atomic"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/serve/telemetry"
	"github.com/petrigate/petrigate/proxy"
)

// A monitor exports the state of the proxy: it counts, makes traces if configured, serves health
// checks, and knows whether the proxy is shutting down.
type monitor struct {
	proxy    *proxy.Proxy // set by New before the monitor serves anything
	secrets  masker
	log      *slog.Logger
	metrics  *telemetry.Metrics
	tracer   *telemetry.Tracer // nil: no traces
	draining atomic.Bool
}

// newMonitor returns the monitor of a configuration. Invalid environment variables, which may be
// meant for another program, do not prevent the start.
func newMonitor(c *config.Config, log *slog.Logger, secrets masker, version string) (*monitor, error) {
	m := &monitor{secrets: secrets, log: log, metrics: telemetry.NewMetrics()}
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
