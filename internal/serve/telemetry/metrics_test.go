package telemetry_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/serve/telemetry"
)

// parse parses a page as Prometheus does.
func parse(t *testing.T, page []byte) map[string]*dto.MetricFamily {
	t.Helper()
	p := expfmt.NewTextParser(model.UTF8Validation)
	families, err := p.TextToMetricFamilies(bytes.NewReader(page))
	if err != nil {
		t.Fatalf("%v in\n%s", err, page)
	}
	return families
}

// state returns the state of a proxy with two servers.
func state() operator.Status {
	return operator.Status{
		Version: "1.2.3", Started: time.Unix(1000, 0), Sessions: 2, Clients: 3, Tools: 4, Waiting: 1, Goroutines: 9,
		Upstreams: []operator.UpstreamStatus{{Name: `a "b"\` + "\n\xff", State: "up"}, {Name: "c", State: "down"}},
	}
}

// fullDisk is a storage without room for any record.
type fullDisk struct{ audit.BatchStorage }

func (fullDisk) AppendAll([][]byte) error { return errors.New("full") }

// busy returns metrics that have counted every kind of event.
func busy() *telemetry.Metrics {
	m := telemetry.NewMetrics()
	call := &admission.Call{Method: "tools/call", Upstream: "files", Tool: "write"}
	m.Decided(call, &admission.Admitted{}, 30*time.Microsecond)
	m.Decided(call, &admission.Asked{}, 30*time.Microsecond)
	refused := &admission.Refused{Facts: admission.Facts{Decision: "refuse", Kind: "budget", Nets: []admission.Block{{Rule: "r.rules:1:1"}, {Rule: "r.rules:2:1"}, {}}}}
	m.Decided(call, refused, 2*time.Second)
	m.Refused(refused)
	m.Refused(&admission.Refused{Facts: admission.Facts{Decision: "refuse", Kind: "internal"}})
	m.Refused(&admission.Refused{Facts: admission.Facts{Decision: "ask", Kind: "approval"}})
	m.Decided(&admission.Call{Method: "resources/read", Upstream: "files", Tool: "resource:file:///secret"}, &admission.Admitted{}, time.Microsecond)
	for range 3 {
		m.Forwarding("files")
	}
	m.Forwarded("files", "write", "tools/call", 3*time.Millisecond, nil)
	m.Forwarded("files", "write", "tools/call", time.Hour, errors.New("gone"))
	m.Settled("files", gate.Success, time.Second)
	m.Settled("files", gate.Failure, time.Second)
	m.Settled("files", gate.Unknown, time.Second)
	m.Answered("approved", "cli", 90*time.Second)
	m.Committed(5, 2, time.Millisecond, nil)
	m.Committed(1, 0, time.Millisecond, errors.New("full"))
	_ = m.Storage(audit.NewFeed(nil)).AppendAll(make([][]byte, 3))
	_ = m.Storage(fullDisk{}).AppendAll(make([][]byte, 1))
	m.Reloaded("")
	m.Reloaded("broken")
	m.SpansLost(7)
	return m
}

// TestScrapeHasCountsByLabel checks all counts in a scrape with their labels.
func TestScrapeHasCountsByLabel(t *testing.T) {
	families := parse(t, busy().Append(nil, state()))
	value := func(name string, labels ...string) float64 {
		t.Helper()
		f := families[name]
		if f == nil {
			t.Fatalf("no %s", name)
		}
	next:
		for _, m := range f.Metric {
			for i := 0; i < len(labels); i += 2 {
				found := false
				for _, l := range m.Label {
					found = found || l.GetName() == labels[i] && l.GetValue() == labels[i+1]
				}
				if !found {
					continue next
				}
			}
			switch {
			case m.Counter != nil:
				return m.Counter.GetValue()
			case m.Gauge != nil:
				return m.Gauge.GetValue()
			}
			return float64(m.Histogram.GetSampleCount())
		}
		return -1
	}
	for _, c := range []struct {
		want float64
		name string
		by   []string
	}{
		{1, "petrigate_build_info", []string{"version", "1.2.3"}},
		{1000, "process_start_time_seconds", nil},
		{2, "petrigate_sessions", nil},
		{3, "petrigate_clients", nil},
		{4, "petrigate_tools", nil},
		{1, "petrigate_approvals_waiting", nil},
		{9, "go_goroutines", nil},
		{1, "petrigate_upstream_state", []string{"upstream", "a \"b\"\\\n\uFFFD", "state", "up"}},
		{0, "petrigate_upstream_state", []string{"upstream", "c", "state", "up"}},
		{1, "petrigate_upstream_state", []string{"upstream", "c", "state", "down"}},
		{1, "petrigate_calls_total", []string{"method", "tools/call", "upstream", "files", "tool", "write", "decision", "allow"}},
		{1, "petrigate_calls_total", []string{"tool", "write", "decision", "ask"}},
		{1, "petrigate_calls_total", []string{"tool", "write", "decision", "refuse"}},
		{1, "petrigate_calls_total", []string{"method", "resources/read", "tool", "", "decision", "allow"}},
		{1, "petrigate_refusals_total", []string{"kind", "budget", "rule", "r.rules:1:1"}},
		{1, "petrigate_refusals_total", []string{"kind", "budget", "rule", "r.rules:2:1"}},
		{1, "petrigate_refusals_total", []string{"kind", "internal", "rule", ""}},
		{-1, "petrigate_refusals_total", []string{"kind", "approval"}},
		{4, "petrigate_decide_seconds", nil},
		{2, "petrigate_forward_seconds", []string{"upstream", "files"}},
		{1, "petrigate_calls_in_flight", []string{"upstream", "files"}},
		{1, "petrigate_forward_errors_total", []string{"upstream", "files"}},
		{3, "petrigate_call_seconds", []string{"upstream", "files"}},
		{1, "petrigate_outcomes_total", []string{"upstream", "files", "outcome", "success"}},
		{1, "petrigate_outcomes_total", []string{"upstream", "files", "outcome", "failure"}},
		{1, "petrigate_outcomes_total", []string{"upstream", "files", "outcome", "unknown"}},
		{1, "petrigate_approvals_total", []string{"state", "approved", "channel", "cli"}},
		{1, "petrigate_approval_wait_seconds", nil},
		{2, "petrigate_store_commit_seconds", nil},
		{2, "petrigate_store_batch_size", nil},
		{1, "petrigate_store_errors_total", nil},
		{2, "petrigate_store_conflicts_total", nil},
		{3, "petrigate_audit_records_total", nil},
		{1, "petrigate_audit_failures_total", nil},
		{2, "petrigate_reloads_total", nil},
		{1, "petrigate_reload_failures_total", nil},
		{7, "petrigate_spans_lost_total", nil},
	} {
		if got := value(c.name, c.by...); got != c.want {
			t.Errorf("%s%q is %v, want %v", c.name, c.by, got, c.want)
		}
		delete(families, "-"+c.name)
	}
	h := families["petrigate_decide_seconds"].Metric[0].Histogram
	if last := h.Bucket[len(h.Bucket)-1]; !math.IsInf(last.GetUpperBound(), 1) || last.GetCumulativeCount() != 4 || h.Bucket[0].GetUpperBound() != 5e-6 || h.Bucket[0].GetCumulativeCount() != 1 {
		t.Errorf("buckets %v", h.Bucket)
	}
	if sum := h.GetSampleSum(); math.Abs(sum-2.000061) > 1e-9 {
		t.Errorf("a sum of %v", sum)
	}
}

// TestLabelsAreBounded checks that the number of labels chosen by servers and rules is limited.
func TestLabelsAreBounded(t *testing.T) {
	m := telemetry.NewMetrics()
	for i := range 2500 {
		name := fmt.Sprint(i)
		m.Decided(&admission.Call{Method: "tools/call", Upstream: "u", Tool: name}, &admission.Admitted{}, 0)
		m.Refused(admission.Refuse(name, ""))
		m.Settled(name, gate.Success, 0)
		m.Answered(name, "", 0)
	}
	families := parse(t, m.Append(nil, operator.Status{}))
	for name, most := range map[string]int{"petrigate_calls_total": 2001, "petrigate_refusals_total": 2500, "petrigate_call_seconds": 501, "petrigate_approvals_total": 101} {
		total := 0.0
		for _, one := range families[name].Metric {
			total += one.GetCounter().GetValue() + float64(one.GetHistogram().GetSampleCount())
		}
		if n := len(families[name].Metric); n > most || total != 2500 {
			t.Errorf("%d series of %s with %v calls", n, name, total)
		}
	}
}

// TestEndpointTellsStrangersOnlyHealth checks that untrusted callers learn only whether the proxy
// is alive and ready.
func TestEndpointTellsStrangersOnlyHealth(t *testing.T) {
	missing := []string{}
	e := &telemetry.Endpoint{Metrics: busy(), State: state, Missing: func() []string { return missing }}
	get := func(method, path string, trusted bool) (int, string) {
		w := httptest.NewRecorder()
		e.Handler(func(*http.Request) bool { return trusted }).ServeHTTP(w, httptest.NewRequest(method, path, nil))
		return w.Code, w.Body.String()
	}
	for _, c := range []struct {
		method, path string
		trusted      bool
		code         int
		body         string
	}{
		{"GET", "/healthz", false, 200, "ok\n"},
		{"HEAD", "/healthz", false, 200, "ok\n"},
		{"POST", "/healthz", true, 405, "method not allowed\n"},
		{"GET", "/readyz", false, 200, "ready\n"},
		{"GET", "/metrics", false, 401, "metrics require a program on this machine that uses localhost, or a bearer token of the listener\n"},
		{"GET", "/debug/pprof", true, 404, "404 page not found\n"},
	} {
		if code, body := get(c.method, c.path, c.trusted); code != c.code || body != c.body {
			t.Errorf("%s %s: %d %q", c.method, c.path, code, body)
		}
	}
	if code, body := get("GET", "/metrics", true); code != 200 || !strings.Contains(body, "petrigate_calls_total{") {
		t.Errorf("%d %s", code, body)
	}
	missing = []string{"upstream files: down", "decisions: the disk is full"}
	if code, body := get("GET", "/readyz", false); code != 503 || body != "not ready\n" {
		t.Errorf("a stranger is told %d %q", code, body)
	}
	if code, body := get("GET", "/readyz", true); code != 503 || body != "not ready\nupstream files: down\ndecisions: the disk is full\n" {
		t.Errorf("%d %q", code, body)
	}
}

// TestDashboardQueriesKnownMetrics checks that all queries in the dashboard use existing metrics
// and labels.
func TestDashboardQueriesKnownMetrics(t *testing.T) {
	board, err := os.ReadFile("../../../examples/grafana/petrigate.json")
	if err != nil {
		t.Fatal(err)
	}
	families := parse(t, busy().Append(nil, state()))
	known := map[string]bool{}
	for name, f := range families {
		known[name] = true
		if f.GetType() == dto.MetricType_HISTOGRAM {
			delete(known, name)
			known[name+"_bucket"], known[name+"_sum"], known[name+"_count"] = true, true, true
		}
	}
	queries := regexp.MustCompile(`"expr": "((?:[^"\\]|\\.)*)"`).FindAllSubmatch(board, -1)
	if len(queries) < 10 {
		t.Errorf("%d queries", len(queries))
	}
	for _, q := range queries {
		names := regexp.MustCompile(`\b(petrigate|process|go)_[a-z_]+`).FindAllString(string(q[1]), -1)
		if len(names) == 0 {
			t.Errorf("no metric in %s", q[1])
		}
		for _, name := range names {
			if !known[name] {
				t.Errorf("there is no %s, which %s asks for", name, q[1])
			}
		}
	}
}

func BenchmarkDecided(b *testing.B) {
	m := telemetry.NewMetrics()
	for i := range 100 {
		m.Decided(&admission.Call{Method: "tools/call", Upstream: "files", Tool: fmt.Sprint("write", i)}, &admission.Admitted{}, time.Microsecond)
	}
	call, d := &admission.Call{Method: "tools/call", Upstream: "files", Tool: "write50"}, &admission.Admitted{}
	b.ReportAllocs()
	for b.Loop() {
		begun := time.Now()
		m.Decided(call, d, time.Since(begun))
		m.Forwarded("files", "write50", "tools/call", time.Millisecond, nil)
		m.Settled("files", gate.Success, time.Millisecond)
	}
}
