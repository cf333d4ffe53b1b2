// Package telemetry tells other programs how a proxy does: traces of calls over OTLP/HTTP
// (OpenTelemetry), counts in the text format of Prometheus, and whether it is alive and
// ready. Arguments and results of calls are in none of them.
//
// A [Tracer] follows calls where traces are wanted; a [Metrics] counts all calls, and an
// [Endpoint] serves the counts over HTTP. None of them ever makes a call wait.
package telemetry
