package telemetry

import (
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/audit"
)

// Maximum numbers of label sets. Once such a limit is reached, events with new labels are counted
// under "(other)".
const (
	maxTools     = 2000
	maxUpstreams = 500
	maxRefusals  = 2000
	maxAnswers   = 100
)

// otherLabel replaces new labels once a limit is reached.
const otherLabel = "(other)"

// Metrics counts a proxy's events. It is safe for concurrent use and almost never blocks its
// callers. SpansLost may be called on a nil *Metrics.
type Metrics struct {
	calls     table[callLabels, callCells]
	upstreams table[string, upstreamCells]
	refusals  table[refusalLabels, atomic.Uint64]
	answers   table[answerLabels, atomic.Uint64]

	decide, wait, commit, batch *histogram

	auditRecords, auditFailures        atomic.Uint64
	commitErrors, conflicts            atomic.Uint64
	reloads, reloadFailures, spansLost atomic.Uint64
}

// callLabels are the labels of a counter for calls. Each tool has its own counter. Resources do
// not, because clients choose their URIs.
type callLabels struct{ method, upstream, tool string }

type callCells struct{ allow, refuse, ask atomic.Uint64 }

type upstreamCells struct {
	forward, total            *histogram
	inFlight, errors          atomic.Uint64
	success, failure, unknown atomic.Uint64
}

func newUpstreamCells() *upstreamCells {
	return &upstreamCells{forward: newHistogram(slowBounds), total: newHistogram(slowBounds)}
}

type refusalLabels struct{ kind, rule string }

type answerLabels struct{ state, channel string }

// NewMetrics returns a Metrics with all counters at zero.
func NewMetrics() *Metrics {
	return &Metrics{
		calls:     table[callLabels, callCells]{limit: maxTools},
		upstreams: table[string, upstreamCells]{limit: maxUpstreams, newCells: newUpstreamCells},
		refusals:  table[refusalLabels, atomic.Uint64]{limit: maxRefusals},
		answers:   table[answerLabels, atomic.Uint64]{limit: maxAnswers},
		decide:    newHistogram(fastBounds), commit: newHistogram(fastBounds), wait: newHistogram(slowBounds), batch: newHistogram(sizeBounds),
	}
}

// Decided counts a decision of the gate, separately for each kind of decision, and records how long
// the decision took.
func (m *Metrics) Decided(c *admission.Call, d admission.Decision, took time.Duration) {
	m.decide.observe(int64(took))
	labels := callLabels{c.Method, c.Upstream, c.Tool}
	if c.Method != methodTool {
		labels.tool = ""
	}
	cells := m.calls.cells(labels, callLabels{c.Method, otherLabel, otherLabel})
	switch d.(type) {
	case *admission.Admitted:
		cells.allow.Add(1)
	case *admission.Refused:
		cells.refuse.Add(1)
	default:
		cells.ask.Add(1)
	}
}

// Refused counts the refusal r once for each rule that caused it.
func (m *Metrics) Refused(r *admission.Refused) {
	if r.Facts.Decision == "ask" { // a person is asked, so the call has not been refused yet
		return
	}
	ruled := list.Filter(r.Facts.Nets, func(b admission.Block) bool { return b.Rule != "" })
	for _, b := range ruled {
		m.refusal(r.Facts.Kind, b.Rule)
	}
	if len(ruled) == 0 {
		m.refusal(r.Facts.Kind, "")
	}
}

func (m *Metrics) refusal(kind, rule string) {
	m.refusals.cells(refusalLabels{kind, rule}, refusalLabels{kind, otherLabel}).Add(1)
}

// Forwarding increments the number of calls that are in flight at the upstream. It must be called
// before a call is sent.
func (m *Metrics) Forwarding(upstream string) { m.upstream(upstream).inFlight.Add(1) }

// Forwarded decrements the number of calls that are in flight at the upstream, and records the
// duration of the call. A non-nil err is counted as an error of the upstream.
func (m *Metrics) Forwarded(upstream, _, _ string, took time.Duration, err error) {
	cells := m.upstream(upstream)
	cells.inFlight.Add(^uint64(0)) // subtract 1
	cells.forward.observe(int64(took))
	if err != nil {
		cells.errors.Add(1)
	}
}

// Settled counts a call with the outcome o, and records how long the whole call took.
func (m *Metrics) Settled(upstream string, o gate.Outcome, took time.Duration) {
	cells := m.upstream(upstream)
	cells.total.observe(int64(took))
	switch o {
	case gate.Success:
		cells.success.Add(1)
	case gate.Failure:
		cells.failure.Add(1)
	default:
		cells.unknown.Add(1)
	}
}

func (m *Metrics) upstream(name string) *upstreamCells { return m.upstreams.cells(name, otherLabel) }

// Answered counts an approval request that is no longer pending, and records how long it was
// pending. Each combination of the new state and the channel that delivered the last answer has its
// own counter. The channel is empty if no answer has arrived.
func (m *Metrics) Answered(state, channel string, waited time.Duration) {
	m.answers.cells(answerLabels{state, channel}, answerLabels{otherLabel, otherLabel}).Add(1)
	m.wait.observe(int64(waited))
}

// Reloaded counts a reload of the configuration. If problem is not empty, the reload has failed.
func (m *Metrics) Reloaded(problem string) {
	m.reloads.Add(1)
	if problem != "" {
		m.reloadFailures.Add(1)
	}
}

// Committed records the duration of a database commit and the number of steps in it. It also counts
// failed commits, and steps that were rejected because they were based on a stale state.
func (m *Metrics) Committed(steps, stale int, took time.Duration, err error) {
	m.commit.observe(int64(took))
	m.batch.observe(int64(steps))
	m.conflicts.Add(uint64(stale)) //nolint:gosec // never negative
	if err != nil {
		m.commitErrors.Add(1)
	}
}

// SpansLost counts spans that could not be delivered to the collector.
func (m *Metrics) SpansLost(n int) {
	if m != nil {
		m.spansLost.Add(uint64(n)) //nolint:gosec // never negative
	}
}

// Storage returns a wrapper around s. When the wrapper stores records, m counts them. If it fails
// to store them, m counts the failure.
func (m *Metrics) Storage(s audit.BatchStorage) audit.BatchStorage { return &countedStorage{s, m} }

type countedStorage struct {
	audit.BatchStorage
	metrics *Metrics
}

// Append appends a record and counts it.
func (s *countedStorage) Append(record []byte) error { return s.AppendAll([][]byte{record}) }

// AppendAll appends records and counts them. If appending fails, it counts the failure instead.
func (s *countedStorage) AppendAll(records [][]byte) error {
	if err := s.BatchStorage.AppendAll(records); err != nil {
		s.metrics.auditFailures.Add(1)
		return err
	}
	s.metrics.auditRecords.Add(uint64(len(records)))
	return nil
}

// A table maps labels to cells, which hold the counters for these labels. The number of labels is
// limited. Readers need no lock, because adding labels replaces the map with a larger copy.
type table[K comparable, V any] struct {
	limit    int
	newCells func() *V // returns new cells; if nil, the zero value is used
	all      atomic.Pointer[map[K]*V]
	mu       sync.Mutex // held while labels are added
}

// get returns the counters for the labels k, or nil if the table does not contain k.
func (t *table[K, V]) get(k K) *V {
	if all := t.all.Load(); all != nil {
		return (*all)[k]
	}
	return nil
}

// cells returns the counters for the labels k, and adds them to the table if necessary. If the
// table is full, it returns the counters for the labels in rest instead.
func (t *table[K, V]) cells(k, rest K) *V {
	if have := t.get(k); have != nil {
		return have
	}
	return t.add(k, rest)
}

func (t *table[K, V]) add(k, rest K) *V {
	t.mu.Lock()
	defer t.mu.Unlock()
	if have := t.get(k); have != nil {
		return have
	}
	old := t.all.Load()
	if old != nil && len(*old) >= t.limit {
		if have := (*old)[rest]; have != nil {
			return have
		}
		k = rest
	}
	grown := map[K]*V{}
	if old != nil {
		grown = maps.Clone(*old)
	}
	cells := new(V)
	if t.newCells != nil {
		cells = t.newCells()
	}
	grown[k] = cells
	t.all.Store(&grown)
	return cells
}

// A histogram counts values in buckets. It is safe for concurrent use.
type histogram struct {
	bounds []int64 // upper bounds of the buckets, in ascending order
	counts []atomic.Uint64
	sum    atomic.Int64
}

func newHistogram(bounds []int64) *histogram {
	return &histogram{bounds: bounds, counts: make([]atomic.Uint64, len(bounds)+1)}
}

func (h *histogram) observe(v int64) {
	i := 0
	for i < len(h.bounds) && v > h.bounds[i] {
		i++
	}
	h.counts[i].Add(1)
	h.sum.Add(v)
}

// Bucket bounds of histograms. fastBounds is for the duration of the proxy's own work, slowBounds
// for the duration of requests to servers and of waits for people, and sizeBounds for the sizes of
// batches.
var (
	fastBounds = []int64{
		int64(5 * time.Microsecond), int64(10 * time.Microsecond), int64(25 * time.Microsecond), int64(50 * time.Microsecond), int64(100 * time.Microsecond),
		int64(250 * time.Microsecond), int64(time.Millisecond), int64(5 * time.Millisecond), int64(25 * time.Millisecond), int64(100 * time.Millisecond), int64(time.Second),
	}
	slowBounds = []int64{
		int64(time.Millisecond), int64(5 * time.Millisecond), int64(25 * time.Millisecond), int64(100 * time.Millisecond), int64(250 * time.Millisecond),
		int64(time.Second), int64(2500 * time.Millisecond), int64(10 * time.Second), int64(30 * time.Second), int64(time.Minute), int64(5 * time.Minute), int64(15 * time.Minute),
	}
	sizeBounds = []int64{1, 2, 4, 8, 16, 32, 64, 128, 256}
)
