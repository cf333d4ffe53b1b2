package telemetry_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	common "go.opentelemetry.io/proto/otlp/common/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/leftover"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/serve/telemetry"
)

func TestMain(m *testing.M) { leftover.Main(m) }

// call creates the spans of one call.
func call(t testing.TB, o admission.Observer) {
	info := admission.Info{
		Key: admission.Key{Session: "s1"}, Upstream: "files", Tool: "write", Client: "an agent", Method: "tools/call",
		ID: []byte(`"7"`), Protocol: "2025-11-25", Transport: "stdio",
	}
	ctx, end := o.Start(t.Context(), admission.PhaseCall, info)
	_, decided := o.Start(ctx, admission.PhaseDecide, info)
	decided(admission.Result{Decision: "allow"})
	_, forwarded := o.Start(ctx, admission.PhaseForward, info)
	forwarded(admission.Result{Failed: true})
	_, settled := o.Start(ctx, admission.PhaseSettle, info)
	settled(admission.Result{Outcome: gate.Failure})
	end(admission.Result{Failed: true})
}

// ExampleNewTracer sends a proxy's spans to a collector.
func ExampleNewTracer() {
	target, err := telemetry.FindTarget("http://127.0.0.1:4318", func(string) string { return "" })
	if err != nil {
		panic(err)
	}
	tracer, err := telemetry.NewTracer(telemetry.TracerOptions{Target: target, Version: "1.2.3"})
	if err != nil {
		panic(err)
	}
	defer tracer.Close() // sends the remaining spans
	var _ admission.Observer = tracer
	// Output:
}

// TestSpanAttributes checks that spans have the attributes required by the conventions, that the
// resource names the sender, and that the standard variables are respected.
func TestSpanAttributes(t *testing.T) {
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test")
	var mu sync.Mutex
	var data otlp.TracesData
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		unzipped, err := gzip.NewReader(r.Body)
		if err != nil || r.Header.Get("Authorization") != "Bearer x" {
			t.Errorf("%v, %v", r.Header, err)
			return
		}
		body, _ := io.ReadAll(unzipped)
		if err := proto.Unmarshal(body, &data); err != nil {
			t.Error(err)
		}
	}))
	defer collector.Close()
	target, err := telemetry.FindTarget("", func(name string) string {
		return map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": collector.URL, "OTEL_EXPORTER_OTLP_HEADERS": "Authorization=Bearer%20x", "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip"}[name]
	})
	if err != nil {
		t.Fatal(err)
	}
	tracer, err := telemetry.NewTracer(telemetry.TracerOptions{Target: target, Version: "1.2.3"})
	if err != nil {
		t.Fatal(err)
	}
	call(t, tracer)
	others(t, tracer)
	tracer.Close()
	mu.Lock()
	defer mu.Unlock()
	if len(data.ResourceSpans) != 1 {
		t.Fatalf("%v", &data)
	}
	of := attributes(data.ResourceSpans[0].Resource.Attributes)
	for _, want := range []string{"service.name=petrigate", "service.version=1.2.3", "deployment.environment.name=test", "telemetry.sdk.language=go"} {
		if !strings.Contains(of, want) {
			t.Errorf("the resource has %s, and no %s", of, want)
		}
	}
	const want = `gate decide: petrigate.decision=allow
tools/call write: mcp.method.name=tools/call petrigate.upstream=files gen_ai.operation.name=execute_tool gen_ai.tool.name=write error.type=tool_error ERROR
gate settle: petrigate.outcome=failure
tools/call write: mcp.session.id=s1 jsonrpc.request.id=7 mcp.protocol.version=2025-11-25 petrigate.client=an agent network.transport=pipe mcp.method.name=tools/call petrigate.upstream=files gen_ai.operation.name=execute_tool gen_ai.tool.name=write error.type=tool_error ERROR
prompts/get review: mcp.session.id=s1 network.transport=tcp network.protocol.name=http mcp.method.name=prompts/get gen_ai.prompt.name=review petrigate.decision=refuse petrigate.refusal.kind=budget petrigate.rules=[r:1:1 r:2:1] error.type=budget ERROR
resources/read: mcp.session.id=s1 network.transport=tcp network.protocol.name=http mcp.method.name=resources/read error.type=-32002 ERROR rpc.response.status_code=-32002
tools/call: mcp.session.id=s1 network.transport=tcp network.protocol.name=http mcp.method.name=tools/call error.type=timeout ERROR
tools/call: mcp.session.id=s1 network.transport=tcp network.protocol.name=http mcp.method.name=tools/call error.type=cancelled ERROR
tools/call: mcp.session.id=s1 network.transport=tcp network.protocol.name=http mcp.method.name=tools/call error.type=_OTHER ERROR
`
	var got strings.Builder
	for _, s := range data.ResourceSpans[0].ScopeSpans[0].Spans {
		all := attributes(s.Attributes)
		if s.Status.GetCode() == otlp.Status_STATUS_CODE_ERROR {
			before, after, coded := strings.Cut(all, " rpc.")
			if all = before + " ERROR"; coded {
				all += " rpc." + after
			}
		}
		got.WriteString(s.Name + ": " + all + "\n")
	}
	if got.String() != want {
		t.Errorf("got\n%swant\n%s", &got, want)
	}
}

// others creates the spans of calls that end in other ways.
func others(t *testing.T, o admission.Observer) {
	for _, c := range []struct {
		method, tool string
		r            admission.Result
	}{
		{"prompts/get", "files.prompt:review", admission.Result{Decision: "refuse", Kind: "budget", Rules: []string{"r:1:1", "r:2:1"}}},
		{"resources/read", "resource:file:///secret", admission.Result{Code: -32002}},
		{"tools/call", "", admission.Result{Err: context.DeadlineExceeded}},
		{"tools/call", "", admission.Result{Err: context.Canceled}},
		{"tools/call", "", admission.Result{Err: errors.New("a secret")}},
	} {
		_, end := o.Start(t.Context(), admission.PhaseCall, admission.Info{Key: admission.Key{Session: "s1"}, Method: c.method, Tool: c.tool})
		end(c.r)
	}
}

// attributes formats attributes on one line.
func attributes(all []*common.KeyValue) string {
	var b bytes.Buffer
	for i, a := range all {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(a.Key + "=")
		if list := a.Value.GetArrayValue(); list != nil {
			var parts []string
			for _, v := range list.Values {
				parts = append(parts, v.GetStringValue())
			}
			b.WriteString("[" + strings.Join(parts, " ") + "]")
			continue
		}
		b.WriteString(a.Value.GetStringValue())
	}
	return b.String()
}
