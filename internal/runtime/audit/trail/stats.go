package trail

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"
)

// Stats counts the records of a log. The zero value is empty.
type Stats struct {
	Records  uint64
	From, To time.Time
	Sessions int

	tools     map[string]*ToolStats
	rules     map[[3]string]*RuleStats // statistics of refusals, keyed by kind, net and rule
	approvals map[[2]string]*ApprovalStats
}

// maxCounted is the maximum number of counters in each map of [Stats]. All other keys share one
// more counter, named othersName.
const (
	maxCounted = 1000
	othersName = "(all others)"
)

// ToolStats counts the calls to a tool.
type ToolStats struct {
	Tool    string `json:"tool"`
	Allowed int    `json:"allowed"`
	Refused int    `json:"refused"`
	Asked   int    `json:"asked"`
	Success int    `json:"success"`
	Failure int    `json:"failure"`
	Unknown int    `json:"unknown"`

	// Latency describes how long calls took, in milliseconds, with an error of at most 5%.
	Latency Quantiles `json:"ms"`

	latency [buckets]uint32
}

// Quantiles holds quantiles of call durations, in milliseconds.
type Quantiles struct {
	Count int     `json:"count"`
	P50   float64 `json:"p50"`
	P90   float64 `json:"p90"`
	P99   float64 `json:"p99"`
	Max   float64 `json:"max"`
}

// RuleStats counts the refusals caused by one rule.
type RuleStats struct {
	Kind    string `json:"kind"`
	Net     string `json:"net,omitempty"`
	Rule    string `json:"rule,omitempty"`
	Refused int    `json:"refused"`
}

// ApprovalStats counts the decisions that are based on one person's answers through one channel, or
// on one of the person's grants. A grant approves similar calls for a limited time. A group of
// people who approve together counts as one person.
type ApprovalStats struct {
	Actor   string `json:"actor"`
	Channel string `json:"channel"`
	Allowed int    `json:"allowed"`
	Denied  int    `json:"denied"`
}

// Counts holds the statistics of a log in a form suitable for output.
type Counts struct {
	Records   uint64          `json:"records"`
	From      string          `json:"from,omitempty"`
	To        string          `json:"to,omitempty"`
	Sessions  int             `json:"sessions"`
	Tools     []ToolStats     `json:"tools"`
	Rules     []RuleStats     `json:"rules"` // rules that refused calls
	Approvals []ApprovalStats `json:"approvals"`
}

// Add counts a record.
func (s *Stats) Add(e *Entry) {
	if s.tools == nil {
		s.tools, s.rules, s.approvals = map[string]*ToolStats{}, map[[3]string]*RuleStats{}, map[[2]string]*ApprovalStats{}
	}
	s.Records++
	if s.From.IsZero() || e.Time.Before(s.From) {
		s.From = e.Time
	}
	if e.Time.After(s.To) {
		s.To = e.Time
	}
	switch e.Event {
	case "session opened":
		s.Sessions++
	case "decision":
		s.decided(e)
	case "outcome":
		s.ended(e)
	}
}

// counterFor returns the counter for the key, creating it if necessary. If there are too many
// counters already, it returns the shared one.
func counterFor[K comparable, V any](m map[K]*V, key, others K, made func(K) *V) *V {
	v := m[key]
	if v == nil && len(m) >= maxCounted {
		key = others
		v = m[key]
	}
	if v == nil {
		v = made(key)
		m[key] = v
	}
	return v
}

func (s *Stats) tool(name string) *ToolStats {
	return counterFor(s.tools, name, othersName, func(name string) *ToolStats { return &ToolStats{Tool: name} })
}

func (s *Stats) decided(e *Entry) {
	t := s.tool(e.Canonical())
	switch e.Decision.Decision {
	case "allow":
		t.Allowed++
	case "ask":
		t.Asked++
	case "refuse":
		t.Refused++
		s.refused(e)
	}
	if e.Actor != "" {
		a := counterFor(s.approvals, [2]string{e.Actor, e.Channel}, [2]string{othersName}, func(k [2]string) *ApprovalStats { return &ApprovalStats{Actor: k[0], Channel: k[1]} })
		if e.Decision.Decision == "allow" {
			a.Allowed++
		} else {
			a.Denied++
		}
	}
}

func (s *Stats) refused(e *Entry) {
	add := func(net, rule string) {
		counterFor(s.rules, [3]string{e.Kind, net, rule}, [3]string{othersName}, func(k [3]string) *RuleStats { return &RuleStats{Kind: k[0], Net: k[1], Rule: k[2]} }).Refused++
	}
	blocked := false
	for i := range e.Nets {
		if n := &e.Nets[i]; n.Verdict == "blocked" {
			blocked = true
			add(n.Net, n.Rule)
		}
	}
	if !blocked {
		add("", "")
	}
}

func (s *Stats) ended(e *Entry) {
	t := s.tool(e.Tool)
	switch e.Outcome {
	case "success":
		t.Success++
	case "failure":
		t.Failure++
	default:
		t.Unknown++
	}
	t.addLatency(e.Millis)
}

// Latency buckets. The upper bound of each bucket is 5% higher than that of the previous one.
const (
	buckets = 512
	growth  = 1.05
	least   = 0.001 // upper bound of the first bucket, in milliseconds
)

func (t *ToolStats) addLatency(ms float64) {
	i := 0
	if ms > least {
		i = min(int(math.Ceil(math.Log(ms/least)/math.Log(growth))), buckets-1)
	}
	t.latency[i]++
	t.Latency.Count++
	t.Latency.Max = max(t.Latency.Max, ms)
}

// quantile returns the upper bound, in milliseconds, of the bucket that contains the quantile q.
func (t *ToolStats) quantile(q float64) float64 {
	left := int(math.Ceil(q * float64(t.Latency.Count)))
	for i, n := range t.latency {
		if left -= int(n); left <= 0 {
			return min(math.Round(least*math.Pow(growth, float64(i))*1000)/1000, t.Latency.Max)
		}
	}
	return t.Latency.Max
}

// Counts returns the statistics in a form suitable for output, with the most frequent entries
// first.
func (s *Stats) Counts() Counts {
	c := Counts{Records: s.Records, Sessions: s.Sessions, Tools: []ToolStats{}, Rules: []RuleStats{}, Approvals: []ApprovalStats{}}
	if s.Records > 0 {
		c.From, c.To = s.From.UTC().Format(TimeStamp), s.To.UTC().Format(TimeStamp)
	}
	for _, t := range s.tools {
		if t.Latency.Count > 0 {
			t.Latency.P50, t.Latency.P90, t.Latency.P99 = t.quantile(0.5), t.quantile(0.9), t.quantile(0.99)
		}
		c.Tools = append(c.Tools, *t)
	}
	for _, r := range s.rules {
		c.Rules = append(c.Rules, *r)
	}
	for _, a := range s.approvals {
		c.Approvals = append(c.Approvals, *a)
	}
	slices.SortFunc(c.Tools, func(a, b ToolStats) int {
		return cmp.Or(cmp.Compare(b.Allowed+b.Refused+b.Asked, a.Allowed+a.Refused+a.Asked), strings.Compare(a.Tool, b.Tool))
	})
	slices.SortFunc(c.Rules, func(a, b RuleStats) int {
		return cmp.Or(cmp.Compare(b.Refused, a.Refused), strings.Compare(a.Net, b.Net), strings.Compare(a.Kind, b.Kind), strings.Compare(a.Rule, b.Rule))
	})
	slices.SortFunc(c.Approvals, func(a, b ApprovalStats) int {
		return cmp.Or(cmp.Compare(b.Allowed+b.Denied, a.Allowed+a.Denied), strings.Compare(a.Actor, b.Actor), strings.Compare(a.Channel, b.Channel))
	})
	return c
}
