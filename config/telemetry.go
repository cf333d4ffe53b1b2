package config

import "fmt"

// Telemetry configures where traces and metrics are exported.
type Telemetry struct {
	Traces  string // URL of an OTLP/HTTP collector; empty disables traces
	Metrics string // address that serves /metrics; empty disables metrics
}

func checkCollector(what, shown, text string) (msg, hint string) {
	if !isURL(text) {
		return fmt.Sprintf("%s: %s is not the URL of a collector", what, shown), `for example "http://127.0.0.1:4318"`
	}
	return "", ""
}
