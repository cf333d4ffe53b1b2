package telemetry_test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/serve/telemetry"
)

// TestFindTarget checks how the configuration and the standard variables select the collector.
func TestFindTarget(t *testing.T) {
	const prefix = "OTEL_EXPORTER_OTLP_"
	for _, c := range []struct {
		name, configured string
		env              map[string]string
		url, err         string
	}{
		{name: "nothing is wanted"},
		{name: "a collector", configured: "http://127.0.0.1:4318", url: "http://127.0.0.1:4318/v1/traces"},
		{name: "with a slash", configured: "http://127.0.0.1:4318/", url: "http://127.0.0.1:4318/v1/traces"},
		{name: "with its path", configured: "https://x.example/otlp/v1/traces", url: "https://x.example/otlp/v1/traces"},
		{name: "the base of all signals", env: map[string]string{"ENDPOINT": "http://c:4318/otlp/"}, url: "http://c:4318/otlp/v1/traces"},
		{name: "of traces alone, as it is", env: map[string]string{"ENDPOINT": "http://c:4318", "TRACES_ENDPOINT": "http://t:1/x"}, url: "http://t:1/x"},
		{name: "of traces alone, without a path", env: map[string]string{"TRACES_ENDPOINT": "http://t:1"}, url: "http://t:1/"},
		{name: "the configuration comes first", configured: "http://a:1", env: map[string]string{"TRACES_ENDPOINT": "http://t:1"}, url: "http://a:1/v1/traces"},
		{name: "another protocol", env: map[string]string{"ENDPOINT": "http://c:4317", "PROTOCOL": "grpc"}, err: `OTEL_EXPORTER_OTLP_ENDPOINT is set and OTEL_EXPORTER_OTLP_PROTOCOL is "grpc": traces are sent by http/protobuf only; telemetry.traces names a collector for this proxy`},
		{name: "no URL", env: map[string]string{"ENDPOINT": "c:4318"}, err: `OTEL_EXPORTER_OTLP_ENDPOINT must be a URL like http://127.0.0.1:4318, not "c:4318/v1/traces"`},
		{name: "another exporter", env: map[string]string{"ENDPOINT": "http://c:4318", "=OTEL_TRACES_EXPORTER": "none"}},
		{name: "switched off", configured: "http://a:1", env: map[string]string{"=OTEL_SDK_DISABLED": "TRUE"}},
		{name: "a timeout that is none", configured: "http://a:1", env: map[string]string{"TIMEOUT": "10s"}, err: `OTEL_EXPORTER_OTLP_TIMEOUT is "10s" but must be a number of milliseconds`},
		{name: "an unknown compression", configured: "http://a:1", env: map[string]string{"COMPRESSION": "zstd"}, err: `OTEL_EXPORTER_OTLP_COMPRESSION is "zstd" but must be gzip or none`},
		{name: "headers that are none", configured: "http://a:1", env: map[string]string{"HEADERS": "secret"}, err: "OTEL_EXPORTER_OTLP_HEADERS: it must be comma-separated key=value pairs"},
		{name: "a header with a line", configured: "http://a:1", env: map[string]string{"TRACES_HEADERS": "a=b%0Ac"}, err: "OTEL_EXPORTER_OTLP_TRACES_HEADERS: it must be comma-separated key=value pairs"},
		{name: "no file", configured: "http://a:1", env: map[string]string{"CERTIFICATE": "/nowhere"}, err: "OTEL_EXPORTER_OTLP_CERTIFICATE: open /nowhere: no such file or directory"},
		{name: "half a pair", configured: "http://a:1", env: map[string]string{"CLIENT_KEY": "/nowhere"}, err: "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: open : no such file or directory"},
	} {
		target, err := telemetry.FindTarget(c.configured, func(name string) string {
			if v, ok := c.env["="+name]; ok {
				return v
			}
			return c.env[strings.TrimPrefix(name, prefix)]
		})
		got := ""
		if target != nil {
			got = target.URL
		}
		if said := message(err); got != c.url && c.err == "" || said != c.err {
			t.Errorf("%s: %q, %q", c.name, got, said)
		}
	}
	target, err := telemetry.FindTarget("http://a:1", func(name string) string {
		return map[string]string{prefix + "TIMEOUT": "1500", prefix + "COMPRESSION": "gzip", prefix + "HEADERS": "a=b, Authorization=Bearer%20x", prefix + "TRACES_HEADERS": "a=c"}[name]
	})
	if err != nil || target.Timeout != 1500*time.Millisecond || !target.Gzip || !maps.Equal(target.Headers, map[string]string{"a": "c", "Authorization": "Bearer x"}) {
		t.Errorf("%+v, %v", target, err)
	}
	if _, err := telemetry.FindTarget("http://a:1", func(name string) string {
		return map[string]string{prefix + "CERTIFICATE": filepath.Join(".", "doc.go")}[name]
	}); message(err) != "OTEL_EXPORTER_OTLP_CERTIFICATE: doc.go has no certificate" {
		t.Error(err)
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestUnavailableCollectorDoesNotBlock checks that a collector that accepts nothing does not slow
// down calls: the spans are lost, the loss is counted, and Close waits only for a limited time.
func TestUnavailableCollectorDoesNotBlock(t *testing.T) {
	hangs := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hangs }))
	refuses := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadRequest) }))
	defer refuses.Close()
	defer slow.Close()
	defer close(hangs)
	for name, url := range map[string]string{"hangs": slow.URL, "refuses": refuses.URL} {
		target, err := telemetry.FindTarget(url, func(string) string { return "" })
		if err != nil {
			t.Fatal(err)
		}
		target.Timeout = 50 * time.Millisecond
		m := telemetry.NewMetrics()
		tracer, err := telemetry.NewTracer(telemetry.TracerOptions{Target: target, Metrics: m})
		if err != nil {
			t.Fatal(err)
		}
		for range 1000 { // more than the queue can hold
			call(t, tracer)
		}
		tracer.Close()
		if lost := parse(t, m.Append(nil, operator.Status{}))["petrigate_spans_lost_total"].Metric[0].Counter.GetValue(); lost == 0 {
			t.Errorf("%s: no span was lost", name)
		}
	}
}
