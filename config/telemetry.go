package config

// Telemetry configures where traces and metrics are exported.
type Telemetry struct {
	Traces  string // URL of an OTLP/HTTP collector; empty disables traces
	Metrics string // address that serves /metrics; empty disables metrics
}

var checkCollector = accept(isURL, "%[1]s: %[2]s is not the URL of a collector", `for example "http://127.0.0.1:4318"`)
