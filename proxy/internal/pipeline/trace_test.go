package pipeline_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/internal/serve/telemetry"
	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// A collector receives traces by OTLP over HTTP.
type collector struct {
	*httptest.Server
	mu    sync.Mutex
	raw   []byte
	spans []*otlp.Span
}

func newCollector(t *testing.T) *collector {
	c := &collector{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var data otlp.TracesData
		if err := proto.Unmarshal(body, &data); err != nil || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" {
			t.Errorf("%s %v: %v", r.URL, r.Header, err)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.raw = append(c.raw, body...)
		for _, of := range data.ResourceSpans {
			for _, s := range of.ScopeSpans {
				c.spans = append(c.spans, s.Spans...)
			}
		}
	}))
	t.Cleanup(c.Close)
	return c
}

// tracer returns a tracer whose spans go to the collector.
func (c *collector) tracer(t *testing.T) *telemetry.Tracer {
	t.Helper()
	target, err := telemetry.FindTarget(c.URL, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	tracer, err := telemetry.NewTracer(telemetry.TracerOptions{Target: target, Version: "1.2.3"})
	if err != nil {
		t.Fatal(err)
	}
	return tracer
}

// tree returns the spans below a span, by their names and attributes, in the order of their
// beginning.
func (c *collector) tree(parent []byte, indent string) string {
	var b strings.Builder
	for {
		var next *otlp.Span
		at := 0
		for i, s := range c.spans {
			if s != nil && bytes.Equal(s.ParentSpanId, parent) && (next == nil || s.StartTimeUnixNano < next.StartTimeUnixNano) {
				next, at = s, i
			}
		}
		if next == nil {
			return b.String()
		}
		c.spans[at] = nil
		b.WriteString(indent + strings.ToLower(strings.TrimPrefix(next.Kind.String(), "SPAN_KIND_")) + " " + next.Name)
		for _, a := range next.Attributes {
			switch a.Key {
			case "error.type", "petrigate.decision", "petrigate.refusal.kind", "petrigate.outcome", "gen_ai.tool.name":
				b.WriteString(" " + a.Key[strings.LastIndex(a.Key, ".")+1:] + "=" + a.Value.GetStringValue())
			}
		}
		b.WriteString("\n" + c.tree(next.SpanId, indent+"  "))
	}
}

// metaTools are the attack tools, and one that returns the _meta of its call.
func metaTools() []testserver.Tool {
	return append(testserver.Attack(), testserver.Tool{Name: "meta", Run: func(_ context.Context, c *testserver.Call) (json.RawMessage, error) {
		return testserver.Text(string(c.Params["_meta"])), nil
	}})
}

const (
	clientTrace = "0af7651916cd43dd8448eb211c80319c"
	clientSpan  = "b7ad6b7169203331"
	traceMeta   = `"traceparent":"00-` + clientTrace + "-" + clientSpan + `-01","tracestate":"vendor=1","baggage":"customer=baggage-value"`
)

// TestTraces: a collector gets the stages of calls as one trace with the client's, the upstream
// joins it, and no span contains arguments or results.
func TestTraces(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		collects := newCollector(t)
		tracer := collects.tracer(t)
		s := proxytest.Start(t, proxytest.Setup{Server: testserver.Options{Tools: metaTools()}, Change: func(o *proxy.Options) {
			o.Observer, o.Approval = tracer, proxy.Approval{Channels: []string{"cli"}}
		}})
		c := s.Connect(l, "")
		passed := c.Reply(c.CallWith("meta", `{"secret":"argument-value"}`, traceMeta, ""))
		c.Reply(c.CallWith("danger", `{}`, traceMeta, ""))
		deploy := c.CallWith("deploy", `{}`, traceMeta, "")
		if err := s.Proxy.Resolve(s.AwaitPending(1)[0].ID, true, "ada", ""); err != nil {
			t.Fatal(err)
		}
		c.Reply(deploy)
		tracer.Close()

		parent, _ := hex.DecodeString(clientSpan)
		const want = `server tools/call meta name=meta
  internal gate decide decision=allow
  client tools/call meta name=meta
  internal gate settle outcome=success
server tools/call danger name=danger decision=refuse kind=blocked type=tool_error
  internal gate decide decision=refuse kind=blocked
server tools/call deploy name=deploy
  internal gate decide decision=ask
  internal gate approve decision=allow
  internal gate decide decision=allow
  client tools/call deploy name=deploy
  internal gate settle outcome=success
`
		forward := ""
		for _, one := range collects.spans {
			if got := hex.EncodeToString(one.TraceId); got != clientTrace || one.TraceState != "vendor=1" {
				t.Errorf("%s is of the trace %s, with the state %q", one.Name, got, one.TraceState)
			}
			if one.Kind == otlp.Span_SPAN_KIND_CLIENT && strings.HasSuffix(one.Name, "meta") {
				forward = hex.EncodeToString(one.SpanId)
			}
		}
		if got := collects.tree(parent, ""); got != want {
			t.Errorf("got\n%swant\n%s", got, want)
		}
		if !strings.Contains(passed.Text(), `"traceparent":"00-`+clientTrace+"-"+forward+`-01"`) || !strings.Contains(passed.Text(), `"tracestate":"vendor=1"`) ||
			!strings.Contains(passed.Text(), `"baggage":"customer=baggage-value"`) || strings.Count(passed.Text(), "traceparent") != 1 {
			t.Errorf("the upstream was told %s, and the span is %s", passed.Text(), forward)
		}
		for _, never := range []string{"argument-value", "secret", "customer=baggage-value"} {
			if bytes.Contains(collects.raw, []byte(never)) {
				t.Errorf("the collector was told %q", never)
			}
		}
	})
}

// TestTraceBegins: a call without a trace begins one, and if telemetry is off the upstream gets the
// trace of the client unchanged, and no other.
func TestTraceBegins(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		collects := newCollector(t)
		tracer := collects.tracer(t)
		on := proxytest.Start(t, proxytest.Setup{Server: testserver.Options{Tools: metaTools()}, Change: func(o *proxy.Options) { o.Observer = tracer }})
		told := on.Connect(l, "").Must("meta", `{}`).Text()
		broken := on.Connect(l, "")
		if got := broken.Reply(broken.CallWith("meta", `{}`, `"traceparent":"00-x","tracestate":"a=b"`, "")).Text(); strings.Contains(got, "00-x") || strings.Contains(got, "a=b") || !strings.Contains(got, `"traceparent":"00-`) {
			t.Errorf("after a broken trace the upstream was told %s", got)
		}
		tracer.Close()
		if !strings.Contains(told, `"traceparent":"00-`) {
			t.Errorf("the upstream was told %s", told)
		}
		off := proxytest.Start(t, proxytest.Setup{Server: testserver.Options{Tools: metaTools()}})
		if got := off.Connect(l, "").Must("meta", `{}`).Text(); strings.Contains(got, "traceparent") {
			t.Errorf("without telemetry the upstream was told %s", got)
		}
		c := off.Connect(l, "")
		if got := c.Reply(c.CallWith("meta", `{}`, traceMeta, "")).Text(); !strings.Contains(got, traceMeta) {
			t.Errorf("without telemetry the upstream was told %s", got)
		}
	})
}
