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

// flushTimeout is how long [Tracer.Close] waits for the collector.
const flushTimeout = 3 * time.Second

// maxAttribute is the maximum length in bytes of attribute values that clients or servers choose.
const maxAttribute = 256

// TracerOptions configures a [Tracer]. All fields except Target are optional.
type TracerOptions struct {
	Target  *Target
	Version string       // version of the proxy
	Log     *slog.Logger // log for failures to reach the collector; if nil, they are not logged
	Metrics *Metrics     // counts lost spans; may be nil
}

// A Tracer creates spans for the phases of calls and sends them in batches in the background. It
// follows the OpenTelemetry conventions for MCP and GenAI. It drops spans that the collector does
// not accept in time. A Tracer is safe for concurrent use.
type Tracer struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
	context  propagation.TraceContext
	exporter *exporter
}

// NewTracer returns a new Tracer. The caller must close it.
func NewTracer(o TracerOptions) (*Tracer, error) {
	described, err := resource.New(context.Background(),
		resource.WithAttributes(attribute.String("service.name", "petrigate"), attribute.String("service.version", o.Version)),
		resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil && !errors.Is(err, resource.ErrPartialResource) {
		return nil, err
	}
	e := newExporter(o.Target, o.Log, o.Metrics)
	provider := sdk.NewTracerProvider(sdk.WithBatcher(e), sdk.WithResource(described))
	return &Tracer{provider: provider, exporter: e, tracer: provider.Tracer("github.com/petrigate/petrigate", trace.WithInstrumentationVersion(o.Version))}, nil
}

// Close sends the remaining spans, waiting at most flushTimeout for the collector.
func (t *Tracer) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), flushTimeout)
	defer cancel()
	t.exporter.stopRetrying()
	_ = t.provider.Shutdown(ctx) // the exporter has already logged the error
	t.exporter.abort()
}

// spanKinds maps phases of a call to span kinds. Spans for other phases have the kind internal.
var spanKinds = map[admission.Phase]trace.SpanKind{
	admission.PhaseCall:    trace.SpanKindServer,
	admission.PhaseForward: trace.SpanKindClient,
}

// Start starts a span for one phase of a call. The returned function ends the span.
func (t *Tracer) Start(ctx context.Context, s admission.Phase, i admission.Info) (context.Context, func(admission.Result)) {
	name := "gate " + string(s)
	options := []trace.SpanStartOption{trace.WithSpanKind(spanKinds[s])}
	switch s {
	case admission.PhaseCall:
		ctx = t.context.Extract(ctx, propagation.MapCarrier{"traceparent": i.TraceParent, "tracestate": i.TraceState})
		name = spanName(i)
		options = append(options, trace.WithAttributes(clientAttributes(i)...), trace.WithAttributes(callAttributes(i)...))
	case admission.PhaseForward:
		name = spanName(i)
		options = append(options, trace.WithAttributes(callAttributes(i)...))
	case admission.PhaseDecide: // the tool is known only now, so name the span of the whole call here
		call := trace.SpanFromContext(ctx)
		call.SetName(spanName(i))
		call.SetAttributes(callAttributes(i)...)
	}
	ctx, span := t.tracer.Start(ctx, name, options...)
	return ctx, func(r admission.Result) { endSpan(span, s, i.Method, r) }
}

// Trace returns the trace context of the current span as values of the traceparent and tracestate
// headers.
func (t *Tracer) Trace(ctx context.Context) (parent, state string) {
	carrier := propagation.MapCarrier{}
	t.context.Inject(ctx, carrier)
	return carrier["traceparent"], carrier["tracestate"]
}

// spanName returns the method, followed by the name of the tool or prompt. It does not include
// resource URIs, because clients choose them and the number of different span names would be
// unlimited.
func spanName(i admission.Info) string {
	if i.Tool == "" || i.Method == methodRead {
		return i.Method
	}
	return i.Method + " " + target(i)
}

// MCP methods with special handling.
const (
	methodTool   = "tools/call"
	methodPrompt = "prompts/get"
	methodRead   = "resources/read"
)

// target returns the name that the upstream uses for the tool or prompt.
func target(i admission.Info) string {
	name := i.Tool
	if i.Method == methodPrompt {
		const prefix = "prompt:"
		if at := strings.LastIndex(name, prefix); at >= 0 {
			name = name[at+len(prefix):]
		}
	}
	return text.Excerpt(name, maxAttribute)
}

// callAttributes returns the attributes that describe the called tool or prompt.
func callAttributes(i admission.Info) []attribute.KeyValue {
	all := []attribute.KeyValue{attribute.String("mcp.method.name", i.Method)}
	all = appendKnown(all, "petrigate.upstream", i.Upstream)
	switch {
	case i.Tool == "":
	case i.Method == methodTool:
		all = append(all, attribute.String("gen_ai.operation.name", "execute_tool"), attribute.String("gen_ai.tool.name", target(i)))
	case i.Method == methodPrompt:
		all = append(all, attribute.String("gen_ai.prompt.name", target(i)))
	}
	return all
}

// clientAttributes returns the attributes that describe the caller.
func clientAttributes(i admission.Info) []attribute.KeyValue {
	all := []attribute.KeyValue{attribute.String("mcp.session.id", i.Session)}
	all = appendKnown(all, "jsonrpc.request.id", text.Excerpt(strings.Trim(string(i.ID), `"`), maxAttribute))
	all = appendKnown(all, "mcp.protocol.version", text.Excerpt(i.Protocol, maxAttribute))
	all = appendKnown(all, "petrigate.client", text.Excerpt(i.Client, maxAttribute))
	if i.Transport == "stdio" {
		return append(all, attribute.String("network.transport", "pipe"))
	}
	return append(all, attribute.String("network.transport", "tcp"), attribute.String("network.protocol.name", "http"))
}

// endSpan sets the span's attributes and status from the result of the phase, and ends the span.
func endSpan(span trace.Span, s admission.Phase, method string, r admission.Result) {
	defer span.End()
	all := appendKnown(nil, "petrigate.decision", r.Decision)
	all = appendKnown(all, "petrigate.refusal.kind", r.Kind)
	if len(r.Rules) > 0 {
		all = append(all, attribute.StringSlice("petrigate.rules", r.Rules))
	}
	if s == admission.PhaseSettle {
		all = append(all, attribute.String("petrigate.outcome", r.Outcome.String()))
	}
	if why := errorType(s, method, r); why != "" {
		all = append(all, attribute.String("error.type", why))
		span.SetStatus(codes.Error, "")
	}
	if r.Code != 0 {
		all = append(all, attribute.String("rpc.response.status_code", strconv.Itoa(r.Code)))
	}
	span.SetAttributes(all...)
}

// appendKnown appends an attribute with the given key and value, unless the value is empty.
func appendKnown(all []attribute.KeyValue, key, value string) []attribute.KeyValue {
	if value == "" {
		return all
	}
	return append(all, attribute.String(key, value))
}

// errorType returns the error.type attribute for the span of a phase, or "" if the phase succeeded.
// A refusal is an error in the span of the whole call, but not in the span of the decision.
func errorType(s admission.Phase, method string, r admission.Result) string {
	switch {
	case r.Code != 0:
		return strconv.Itoa(r.Code)
	case r.Failed, s == admission.PhaseCall && r.Kind != "" && method == methodTool:
		return "tool_error"
	case s == admission.PhaseCall && r.Kind != "":
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
