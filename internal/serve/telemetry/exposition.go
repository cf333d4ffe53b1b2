package telemetry

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/petrigate/petrigate/internal/operator"
)

// upstreamStates lists the possible states of an upstream.
var upstreamStates = [...]string{"starting", "up", "down"}

// Append appends the counters and the state s of the proxy to dst in the Prometheus text format
// (0.0.4).
func (m *Metrics) Append(dst []byte, s operator.Status) []byte {
	p := &page{dst}
	p.state(s)
	m.appendCalls(p)
	m.appendUpstreams(p)
	p.family("petrigate_approvals_total", "counter", "Approval requests that are no longer waiting, by state and by the channel of the answer.")
	for _, l := range m.answers.sorted(func(a, b answerLabels) int {
		return cmp.Or(cmp.Compare(a.state, b.state), cmp.Compare(a.channel, b.channel))
	}) {
		p.sample("petrigate_approvals_total", m.answers.get(l).Load(), "state", l.state, "channel", l.channel)
	}
	p.seconds("petrigate_approval_wait_seconds", "How long approval requests waited.", m.wait)
	p.counter("petrigate_audit_records_total", "Records that were written to the audit file.", &m.auditRecords)
	p.counter("petrigate_audit_failures_total", "Records that could not be written to the audit file.", &m.auditFailures)
	p.seconds("petrigate_store_commit_seconds", "How long commits of the state store take.", m.commit)
	p.family("petrigate_store_batch_size", "histogram", "Steps in one commit of the state store.")
	p.histogram("petrigate_store_batch_size", m.batch, 1)
	p.counter("petrigate_store_errors_total", "Commits of the state store that failed.", &m.commitErrors)
	p.counter("petrigate_store_conflicts_total", "Steps that were run again because another process was faster.", &m.conflicts)
	p.counter("petrigate_reloads_total", "Configuration reloads, including failed ones.", &m.reloads)
	p.counter("petrigate_reload_failures_total", "Configuration reloads that failed: the previous configuration stays in effect.", &m.reloadFailures)
	p.counter("petrigate_spans_lost_total", "Spans that did not reach a collector.", &m.spansLost)
	return p.dst
}

func (m *Metrics) appendCalls(p *page) {
	p.family("petrigate_calls_total", "counter", "The gate's decisions on calls. A call that requires approval has two or more.")
	for _, l := range m.calls.sorted(func(a, b callLabels) int {
		return cmp.Or(cmp.Compare(a.upstream, b.upstream), cmp.Compare(a.method, b.method), cmp.Compare(a.tool, b.tool))
	}) {
		cells := m.calls.get(l)
		for _, d := range [...]struct {
			decision string
			n        *atomic.Uint64
		}{{"allow", &cells.allow}, {"ask", &cells.ask}, {"refuse", &cells.refuse}} {
			if n := d.n.Load(); n > 0 {
				p.sample("petrigate_calls_total", n, "method", l.method, "upstream", l.upstream, "tool", l.tool, "decision", d.decision)
			}
		}
	}
	p.family("petrigate_refusals_total", "counter", "Refusals, counted once for each rule that caused them.")
	for _, l := range m.refusals.sorted(func(a, b refusalLabels) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.rule, b.rule))
	}) {
		p.sample("petrigate_refusals_total", m.refusals.get(l).Load(), "kind", l.kind, "rule", l.rule)
	}
	p.seconds("petrigate_decide_seconds", "How long decisions take, including the commit.", m.decide)
}

func (m *Metrics) appendUpstreams(p *page) {
	all := m.upstreams.sorted(strings.Compare)
	p.family("petrigate_forward_seconds", "histogram", "How long upstreams take to respond to a call.")
	for _, name := range all {
		p.histogram("petrigate_forward_seconds", m.upstreams.get(name).forward, 1e9, "upstream", name)
	}
	p.family("petrigate_call_seconds", "histogram", "How long allowed calls take, from their arrival until their outcome is recorded.")
	for _, name := range all {
		p.histogram("petrigate_call_seconds", m.upstreams.get(name).total, 1e9, "upstream", name)
	}
	p.family("petrigate_calls_in_flight", "gauge", "Calls in flight to an upstream.")
	for _, name := range all {
		p.sample("petrigate_calls_in_flight", m.upstreams.get(name).inFlight.Load(), "upstream", name)
	}
	p.family("petrigate_forward_errors_total", "counter", "Calls that the upstream did not respond to.")
	for _, name := range all {
		p.sample("petrigate_forward_errors_total", m.upstreams.get(name).errors.Load(), "upstream", name)
	}
	p.family("petrigate_outcomes_total", "counter", "Outcomes of allowed calls.")
	for _, name := range all {
		cells := m.upstreams.get(name)
		p.sample("petrigate_outcomes_total", cells.success.Load(), "upstream", name, "outcome", "success")
		p.sample("petrigate_outcomes_total", cells.failure.Load(), "upstream", name, "outcome", "failure")
		p.sample("petrigate_outcomes_total", cells.unknown.Load(), "upstream", name, "outcome", "unknown")
	}
}

// A page collects metrics as text in the Prometheus format.
type page struct{ dst []byte }

func (p *page) state(s operator.Status) {
	p.family("petrigate_build_info", "gauge", "The version of the proxy.")
	p.sample("petrigate_build_info", 1, "version", s.Version)
	p.family("process_start_time_seconds", "gauge", "When the proxy was started, in seconds since 1970.")
	p.sample("process_start_time_seconds", uint64(max(0, s.Started.Unix()))) //nolint:gosec // never negative
	for _, g := range [...]struct {
		name, help string
		n          int
	}{
		{"go_goroutines", "Goroutines of the process.", s.Goroutines},
		{"petrigate_sessions", "Sessions that are open.", s.Sessions},
		{"petrigate_clients", "Clients that are connected.", s.Clients},
		{"petrigate_tools", "Tools that are listed.", s.Tools},
		{"petrigate_approvals_waiting", "Approval requests that are waiting for an answer.", s.Waiting},
	} {
		p.family(g.name, "gauge", g.help)
		p.sample(g.name, uint64(max(0, g.n))) //nolint:gosec // never negative
	}
	p.family("petrigate_upstream_state", "gauge", "1 for the state that an upstream is in.")
	for _, u := range s.Upstreams {
		for _, state := range upstreamStates {
			p.sample("petrigate_upstream_state", boolToUint(u.State == state), "upstream", u.Name, "state", state)
		}
	}
}

func boolToUint(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

func (p *page) family(name, kind, help string) {
	for _, part := range [...]string{"# HELP ", name, " ", help, "\n# TYPE ", name, " ", kind, "\n"} {
		p.dst = append(p.dst, part...)
	}
}

func (p *page) counter(name, help string, n *atomic.Uint64) {
	p.family(name, "counter", help)
	p.sample(name, n.Load())
}

// seconds appends a metric family that consists of a single histogram of durations.
func (p *page) seconds(name, help string, h *histogram) {
	p.family(name, "histogram", help)
	p.histogram(name, h, 1e9)
}

func (p *page) sample(name string, n uint64, labels ...string) {
	p.dst = append(p.dst, name...)
	p.labels(labels...)
	p.dst = strconv.AppendUint(append(p.dst, ' '), n, 10)
	p.dst = append(p.dst, '\n')
}

// histogram appends the samples of h. It divides the values and the bounds of h by unit, for
// example to convert nanoseconds to seconds.
func (p *page) histogram(name string, h *histogram, unit float64, labels ...string) {
	n := uint64(0)
	for i := range h.counts {
		n += h.counts[i].Load()
		bound := "+Inf"
		if i < len(h.bounds) {
			bound = strconv.FormatFloat(float64(h.bounds[i])/unit, 'g', -1, 64)
		}
		p.sample(name+"_bucket", n, append(slices.Clone(labels), "le", bound)...)
	}
	p.dst = append(append(p.dst, name...), "_sum"...)
	p.labels(labels...)
	p.dst = strconv.AppendFloat(append(p.dst, ' '), float64(h.sum.Load())/unit, 'g', -1, 64)
	p.dst = append(p.dst, '\n')
	p.sample(name+"_count", n, labels...)
}

// labelEscaper escapes the values of labels.
var labelEscaper = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

func (p *page) labels(pairs ...string) {
	for i := 0; i < len(pairs); i += 2 {
		p.dst = append(p.dst, ",{"[boolToUint(i == 0)])
		p.dst = append(append(p.dst, pairs[i]...), `="`...)
		p.dst = append(append(p.dst, labelEscaper.Replace(strings.ToValidUTF8(pairs[i+1], "\uFFFD"))...), '"')
	}
	if len(pairs) > 0 {
		p.dst = append(p.dst, '}')
	}
}

// sorted returns the keys of the table, sorted by the given comparison function.
func (t *table[K, V]) sorted(order func(a, b K) int) []K {
	all := t.all.Load()
	if all == nil {
		return nil
	}
	return slices.SortedFunc(maps.Keys(*all), order)
}
