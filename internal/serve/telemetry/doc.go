// Package telemetry exports the state of a proxy: traces of calls over OTLP/HTTP (OpenTelemetry),
// counters in the text format of Prometheus, and health checks. None of them contains arguments or
// results of calls.
//
// A [Tracer] makes spans of calls if traces are configured. A [Metrics] counts all calls, and an
// [Endpoint] serves the counts and the health checks over HTTP. None of them ever makes a call
// wait.
//
// A Tracer sends its spans in batches from a background goroutine, through an exporter that retries
// a few times and then drops the batch. The package has its own OTLP exporter, since the one of the
// OpenTelemetry SDK depends on gRPC.
//
// Counters are atomic. The counters for a set of labels are found in a table that readers use
// without a lock; a table grows by copying under a mutex. The number of label sets is bounded,
// because servers and clients choose some labels: calls beyond the bound are counted under
// "(other)".
package telemetry
