package telemetry

import (
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	resource "go.opentelemetry.io/proto/otlp/resource/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/petrigate/petrigate/internal/list"
)

// encode converts spans to OTLP. All spans must come from the same [Tracer]. The result has the
// type TracesData rather than the collector's request type, whose package depends on gRPC. Both
// types have the same encoding.
func encode(spans []sdk.ReadOnlySpan) *otlp.TracesData {
	if len(spans) == 0 {
		return &otlp.TracesData{}
	}
	scope := spans[0].InstrumentationScope()
	of := &otlp.ScopeSpans{Scope: &common.InstrumentationScope{Name: scope.Name, Version: scope.Version}, SchemaUrl: scope.SchemaURL}
	of.Spans = list.Map(spans, encodeSpan)
	described := spans[0].Resource()
	return &otlp.TracesData{ResourceSpans: []*otlp.ResourceSpans{{
		Resource:   &resource.Resource{Attributes: encodeAttributes(described.Attributes())},
		SchemaUrl:  described.SchemaURL(),
		ScopeSpans: []*otlp.ScopeSpans{of},
	}}}
}

// Bits that OTLP adds to the trace flags of a span.
const (
	flagHasRemote = 0x100 // set if it is known whether another process created the parent span
	flagIsRemote  = 0x200 // set if another process created the parent span
)

func encodeSpan(s sdk.ReadOnlySpan) *otlp.Span {
	own, parent := s.SpanContext(), s.Parent()
	id, of := own.SpanID(), own.TraceID()
	out := &otlp.Span{
		TraceId: of[:], SpanId: id[:], TraceState: own.TraceState().String(), Flags: uint32(own.TraceFlags()) | flagHasRemote,
		Name: s.Name(), Kind: encodeKind(s.SpanKind()), Attributes: encodeAttributes(s.Attributes()), DroppedAttributesCount: uint32(s.DroppedAttributes()), //nolint:gosec // never negative
		StartTimeUnixNano: nanos(s.StartTime()), EndTimeUnixNano: nanos(s.EndTime()),
	}
	if p := parent.SpanID(); p.IsValid() {
		out.ParentSpanId = p[:]
	}
	if parent.IsRemote() {
		out.Flags |= flagIsRemote
	}
	if status := s.Status(); status.Code == codes.Error {
		out.Status = &otlp.Status{Code: otlp.Status_STATUS_CODE_ERROR, Message: status.Description}
	}
	return out
}

func nanos(t time.Time) uint64 { return uint64(t.UnixNano()) } //nolint:gosec // the time is after 1970

func encodeKind(k trace.SpanKind) otlp.Span_SpanKind {
	switch k {
	case trace.SpanKindServer:
		return otlp.Span_SPAN_KIND_SERVER
	case trace.SpanKindClient:
		return otlp.Span_SPAN_KIND_CLIENT
	}
	return otlp.Span_SPAN_KIND_INTERNAL
}

func encodeAttributes(all []attribute.KeyValue) []*common.KeyValue {
	return list.Map(all, func(a attribute.KeyValue) *common.KeyValue {
		return &common.KeyValue{Key: string(a.Key), Value: encodeValue(a.Value)}
	})
}

// encodeValue converts an attribute value. Values of types that this program does not use become
// strings.
func encodeValue(v attribute.Value) *common.AnyValue {
	switch v.Type() {
	case attribute.INT64:
		return &common.AnyValue{Value: &common.AnyValue_IntValue{IntValue: v.AsInt64()}}
	case attribute.BOOL:
		return &common.AnyValue{Value: &common.AnyValue_BoolValue{BoolValue: v.AsBool()}}
	case attribute.STRINGSLICE:
		list := &common.ArrayValue{}
		for _, s := range v.AsStringSlice() {
			list.Values = append(list.Values, &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: s}})
		}
		return &common.AnyValue{Value: &common.AnyValue_ArrayValue{ArrayValue: list}}
	case attribute.STRING:
		return &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: v.AsString()}}
	}
	return &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: v.String()}}
}
