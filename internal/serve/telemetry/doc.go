// Package telemetry makes the state of a proxy available to monitoring systems: traces of calls
// over OTLP/HTTP (OpenTelemetry), counters in the Prometheus text format, and health checks. It
// never reveals the arguments or results of calls.
//
// If traces are configured, a [Tracer] creates a span for each step of a call. A [Metrics] counts
// all calls. An [Endpoint] serves the counters and the health checks over HTTP. Calls never wait
// for a monitoring system.
//
// A Tracer sends its spans in batches from a background goroutine, through an exporter that retries
// a few times and then drops the batch. The package has its own OTLP exporter, because the exporter
// of the OpenTelemetry SDK depends on gRPC.
//
// Counters are atomic. The counters for a set of labels are stored in a table that is read without
// a lock. When the table has to grow, it is copied under a mutex. Because servers and clients
// choose some of the labels, the number of label sets is limited. Once a limit is reached, calls
// with new labels are counted under "(other)".
package telemetry
