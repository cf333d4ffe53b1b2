package telemetry

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/text"
)

// flushTimeout bounds how long [Tracer.Close] waits for the collector.
const flushTimeout = 3 * time.Second

// maxAttribute is the most bytes that a client or a server writes into one attribute.
const maxAttribute = 256

// TracerOptions configures a Tracer.
type TracerOptions struct {
	Target  *Target
	Version string       // of the proxy
	Log     *slog.Logger // where it says that the collector cannot be reached
	Metrics *Metrics     // counts what could not be sent; nil: nobody does
}

// A Tracer makes spans of the stations of calls, by the conventions of OpenTelemetry for
// MCP and GenAI, and sends them in batches in the background. What the collector does not
// take in time is dropped.
type Tracer struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
	context  propagation.TraceContext
	exporter *exporter
}

// NewTracer returns a Tracer, which has to be closed.
func NewTracer(o TracerOptions) (*Tracer, error) {
	described, err := resource.New(context.Background(),
		resource.WithAttributes(attribute.String("service.name", "petrigate"), attribute.String("service.version", o.Version)),
		resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil && !errors.Is(err, resource.ErrPartialResource) {
		return nil, err
	}
	e := newExporter(o)
	provider := sdk.NewTracerProvider(sdk.WithBatcher(e), sdk.WithResource(described))
	return &Tracer{provider: provider, exporter: e, tracer: provider.Tracer("github.com/petrigate/petrigate", trace.WithInstrumentationVersion(o.Version))}, nil
}

// Close sends what has not been sent, for a while.
func (t *Tracer) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), flushTimeout)
	defer cancel()
	t.exporter.stopRetrying()
	_ = t.provider.Shutdown(ctx) // the exporter has said why
	t.exporter.abort()
}

// spanKinds are the kinds of spans; a station that is not here is internal.
var spanKinds = map[admission.Station]trace.SpanKind{
	admission.StationCall:    trace.SpanKindServer,
	admission.StationForward: trace.SpanKindClient,
}

// Start begins the span of a station.
func (t *Tracer) Start(ctx context.Context, s admission.Station, i admission.Info) (context.Context, func(admission.Result)) {
	name := "gate " + string(s)
	options := []trace.SpanStartOption{trace.WithSpanKind(spanKinds[s])}
	switch s {
	case admission.StationCall:
		ctx = t.context.Extract(ctx, propagation.MapCarrier{"traceparent": i.TraceParent, "tracestate": i.TraceState})
		name = spanName(i)
		options = append(options, trace.WithAttributes(clientAttributes(i)...), trace.WithAttributes(callAttributes(i)...))
	case admission.StationForward:
		name = spanName(i)
		options = append(options, trace.WithAttributes(callAttributes(i)...))
	case admission.StationDecide: // the tool may not have been known before
		call := trace.SpanFromContext(ctx)
		call.SetName(spanName(i))
		call.SetAttributes(callAttributes(i)...)
	}
	ctx, span := t.tracer.Start(ctx, name, options...)
	return ctx, func(r admission.Result) { endSpan(span, s, i.Method, r) }
}

// Trace is the context of the span in ctx.
func (t *Tracer) Trace(ctx context.Context) (parent, state string) {
	carrier := propagation.MapCarrier{}
	t.context.Inject(ctx, carrier)
	return carrier["traceparent"], carrier["tracestate"]
}

// spanName is the method, with the tool or prompt where there are few. The URIs of
// resources are many, and clients make them up.
func spanName(i admission.Info) string {
	if i.Tool == "" || i.Method == methodRead {
		return i.Method
	}
	return i.Method + " " + target(i)
}

// The methods of MCP by which calls differ.
const (
	methodTool   = "tools/call"
	methodPrompt = "prompts/get"
	methodRead   = "resources/read"
)

// target is the tool or prompt as its upstream names it.
func target(i admission.Info) string {
	name := i.Tool
	if i.Method == methodPrompt {
		_, name, _ = cutLast(name, "prompt:")
	}
	return text.Excerpt(name, maxAttribute)
}

// cutLast cuts s after the last prefix; where there is none, all of s is after it.
func cutLast(s, prefix string) (before, after string, found bool) {
	if at := strings.LastIndex(s, prefix); at >= 0 {
		return s[:at], s[at+len(prefix):], true
	}
	return "", s, false
}

// callAttributes say what is called.
func callAttributes(i admission.Info) []attribute.KeyValue {
	all := []attribute.KeyValue{attribute.String("mcp.method.name", i.Method)}
	if i.Upstream != "" {
		all = append(all, attribute.String("petrigate.upstream", i.Upstream))
	}
	switch {
	case i.Tool == "":
	case i.Method == methodTool:
		all = append(all, attribute.String("gen_ai.operation.name", "execute_tool"), attribute.String("gen_ai.tool.name", target(i)))
	case i.Method == methodPrompt:
		all = append(all, attribute.String("gen_ai.prompt.name", target(i)))
	}
	return all
}

// clientAttributes say who calls.
func clientAttributes(i admission.Info) []attribute.KeyValue {
	all := []attribute.KeyValue{attribute.String("mcp.session.id", i.Session)}
	if id := strings.Trim(string(i.ID), `"`); id != "" {
		all = append(all, attribute.String("jsonrpc.request.id", text.Excerpt(id, maxAttribute)))
	}
	if i.Protocol != "" {
		all = append(all, attribute.String("mcp.protocol.version", text.Excerpt(i.Protocol, maxAttribute)))
	}
	if i.Client != "" {
		all = append(all, attribute.String("petrigate.client", text.Excerpt(i.Client, maxAttribute)))
	}
	if i.Transport == "stdio" {
		return append(all, attribute.String("network.transport", "pipe"))
	}
	return append(all, attribute.String("network.transport", "tcp"), attribute.String("network.protocol.name", "http"))
}

// endSpan ends the span of a station.
func endSpan(span trace.Span, s admission.Station, method string, r admission.Result) {
	defer span.End()
	if r.Decision != "" {
		span.SetAttributes(attribute.String("petrigate.decision", r.Decision))
	}
	if r.Kind != "" {
		span.SetAttributes(attribute.String("petrigate.refusal.kind", r.Kind))
	}
	if len(r.Rules) > 0 {
		span.SetAttributes(attribute.StringSlice("petrigate.rules", r.Rules))
	}
	if s == admission.StationSettle {
		span.SetAttributes(attribute.String("petrigate.outcome", r.Outcome.String()))
	}
	if why := errorType(s, method, r); why != "" {
		span.SetAttributes(attribute.String("error.type", why))
		span.SetStatus(codes.Error, "")
	}
	if r.Code != 0 {
		span.SetAttributes(attribute.String("rpc.response.status_code", strconv.Itoa(r.Code)))
	}
}

// errorType is error.type of a station; empty: it went well. A refusal by the gate is no
// error of the gate, and one of the call.
func errorType(s admission.Station, method string, r admission.Result) string {
	switch {
	case r.Code != 0:
		return strconv.Itoa(r.Code)
	case r.Failed, s == admission.StationCall && r.Kind != "" && method == methodTool:
		return "tool_error"
	case s == admission.StationCall && r.Kind != "":
		return cmp.Or(r.Kind, "_OTHER")
	case errors.Is(r.Err, context.DeadlineExceeded):
		return "timeout"
	case errors.Is(r.Err, context.Canceled):
		return "cancelled"
	case r.Err != nil:
		return "_OTHER"
	}
	return ""
}
