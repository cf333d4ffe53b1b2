package telemetry

import (
	"sync/atomic"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/audit"
)

// Limits for the number of label sets. Further label sets are counted together as "(other)".
const (
	maxTools     = 2000
	maxUpstreams = 500
	maxRefusals  = 2000
	maxAnswers   = 100
)

// other is the label that stands for everything beyond a limit.
const other = "(other)"

// Metrics counts a proxy's events. It is safe for concurrent use, and counting almost never blocks.
// Answered, Reloaded, Committed, Recorded and SpansLost may be called on a nil *Metrics.
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

// callLabels identifies calls that are counted together. Only tools are counted separately, because
// clients choose the URIs of resources.
type callLabels struct{ method, upstream, tool string }

type callCells struct{ allow, refuse, ask atomic.Uint64 }

type upstreamCells struct {
	forward, total            *histogram
	inFlight, errors          atomic.Uint64
	success, failure, unknown atomic.Uint64
}

type refusalLabels struct{ kind, rule string }

type answerLabels struct{ state, channel string }

// NewMetrics returns a Metrics with all counters at zero.
func NewMetrics() *Metrics {
	return &Metrics{
		calls:     table[callLabels, callCells]{limit: maxTools},
		upstreams: table[string, upstreamCells]{limit: maxUpstreams},
		refusals:  table[refusalLabels, atomic.Uint64]{limit: maxRefusals},
		answers:   table[answerLabels, atomic.Uint64]{limit: maxAnswers},
		decide:    newHistogram(fastBounds), commit: newHistogram(fastBounds), wait: newHistogram(slowBounds), batch: newHistogram(sizeBounds),
	}
}

// Decided counts a decision by the gate.
func (m *Metrics) Decided(c *admission.Call, d admission.Decision, took time.Duration) {
	m.decide.observe(int64(took))
	labels := callLabels{c.Method, c.Upstream, c.Tool}
	if c.Method != methodTool {
		labels.tool = ""
	}
	cells := m.calls.get(labels)
	if cells == nil {
		cells = m.calls.add(labels, callLabels{c.Method, other, other}, &callCells{})
	}
	switch d.(type) {
	case *admission.Admitted:
		cells.allow.Add(1)
	case *admission.Refused:
		cells.refuse.Add(1)
	default:
		cells.ask.Add(1)
	}
}

// Refused counts a refusal for each rule that caused it.
func (m *Metrics) Refused(r *admission.Refused) {
	if r.Facts.Decision == "ask" { // a person is still being asked
		return
	}
	some := false
	for _, b := range r.Facts.Nets {
		if b.Rule != "" {
			some = true
			m.refusal(r.Facts.Kind, b.Rule)
		}
	}
	if !some {
		m.refusal(r.Facts.Kind, "")
	}
}

func (m *Metrics) refusal(kind, rule string) {
	labels := refusalLabels{kind, rule}
	n := m.refusals.get(labels)
	if n == nil {
		n = m.refusals.add(labels, refusalLabels{kind, other}, &atomic.Uint64{})
	}
	n.Add(1)
}

// Forwarding counts a call that has been sent to its upstream.
func (m *Metrics) Forwarding(upstream string) { m.upstream(upstream).inFlight.Add(1) }

// Forwarded counts the end of a call at its upstream, whether or not a response arrived.
func (m *Metrics) Forwarded(upstream, _, _ string, took time.Duration, err error) {
	cells := m.upstream(upstream)
	cells.inFlight.Add(^uint64(0)) // decrements
	cells.forward.observe(int64(took))
	if err != nil {
		cells.errors.Add(1)
	}
}

// Settled counts the outcome of a call.
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

func (m *Metrics) upstream(name string) *upstreamCells {
	cells := m.upstreams.get(name)
	if cells == nil {
		cells = m.upstreams.add(name, other, &upstreamCells{forward: newHistogram(slowBounds), total: newHistogram(slowBounds)})
	}
	return cells
}

// Answered counts an approval that has ended, by its state and the channel of the answer, and how
// long it waited.
func (m *Metrics) Answered(state, channel string, waited time.Duration) {
	if m == nil {
		return
	}
	labels := answerLabels{state, channel}
	n := m.answers.get(labels)
	if n == nil {
		n = m.answers.add(labels, answerLabels{other, other}, &atomic.Uint64{})
	}
	n.Add(1)
	m.wait.observe(int64(waited))
}

// Reloaded counts a reload of the configuration. problem explains why it failed; it is empty if the
// reload succeeded.
func (m *Metrics) Reloaded(problem string) {
	if m == nil {
		return
	}
	m.reloads.Add(1)
	if problem != "" {
		m.reloadFailures.Add(1)
	}
}

// Committed counts a database commit, its steps, and how many of these were stale.
func (m *Metrics) Committed(steps, stale int, took time.Duration, err error) {
	if m == nil {
		return
	}
	m.commit.observe(int64(took))
	m.batch.observe(int64(steps))
	m.conflicts.Add(uint64(stale)) //nolint:gosec // it is no negative number
	if err != nil {
		m.commitErrors.Add(1)
	}
}

// Recorded counts audit log records.
func (m *Metrics) Recorded(records int, err error) {
	switch {
	case m == nil:
	case err != nil:
		m.auditFailures.Add(1)
	default:
		m.auditRecords.Add(uint64(records)) //nolint:gosec // it is no negative number
	}
}

// SpansLost counts spans that could not be delivered to the collector.
func (m *Metrics) SpansLost(n int) {
	if m != nil {
		m.spansLost.Add(uint64(n)) //nolint:gosec // it is no negative number
	}
}

// Storage returns a wrapper of s that counts records in m.
func (m *Metrics) Storage(s audit.Storage) audit.Storage {
	counted := &countedStorage{s, m}
	if all, ok := s.(audit.BatchStorage); ok {
		return &countedBatches{counted, all}
	}
	return counted
}

type countedStorage struct {
	audit.Storage
	metrics *Metrics
}

// Append appends a record and counts it.
func (s *countedStorage) Append(record []byte) error {
	err := s.Storage.Append(record)
	s.metrics.Recorded(1, err)
	return err
}

// countedBatches wraps a storage that can store several records at once.
type countedBatches struct {
	*countedStorage
	all audit.BatchStorage
}

// AppendAll appends records and counts them.
func (s *countedBatches) AppendAll(records [][]byte) error {
	err := s.all.AppendAll(records)
	s.metrics.Recorded(len(records), err)
	return err
}
