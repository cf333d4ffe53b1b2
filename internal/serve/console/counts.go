package console

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/text"
)

// A toolCount counts the calls to one tool in the journal.
type toolCount struct {
	Tool    string
	Calls   int
	Refused int
	Failed  int
	Middle  string // median latency of completed calls
	Slow    string // 95th percentile of the latencies of completed calls
	Timed   int

	took []float64
}

// RefusedShare returns the percentage of refused calls.
func (t *toolCount) RefusedShare() string { return percent(t.Refused, t.Calls) }

// percent formats the ratio of a part to the total as a percentage. It never rounds down to 0 or up
// to 100: it formats small shares as "< 1 %" and large ones as "> 99 %".
func percent(part, all int) string {
	switch {
	case all == 0 || part == 0:
		return "0 %"
	case part*200 <= all:
		return "< 1 %"
	case part < all && part*200 >= 199*all:
		return "> 99 %"
	}
	return fmt.Sprintf("%.0f %%", 100*float64(part)/float64(all))
}

// A minute counts the calls within one minute.
type minute struct {
	Passed, Refused int
}

// minutes is the number of minutes covered by the chart of calls per minute.
const minutes = 60

// counts holds the numbers of calls in the journal: in total, in the last minute, in each minute of
// the chart, and by tool.
type counts struct {
	Calls, Refused int
	Lately         int // number of calls in the last minute
	Minutes        []minute
	Most           int // largest number of calls in one minute
	Tools          []*toolCount
	Others         int // number of tools that the table leaves out
}

// toolsCounted is the maximum number of tools in the table of calls per tool.
const toolsCounted = 30

// RefusedShare returns the percentage of refused calls.
func (c *counts) RefusedShare() string { return percent(c.Refused, c.Calls) }

// countCalls summarizes the calls among the given rows.
func countCalls(rows []*row, now time.Time) *counts {
	c := &counts{Minutes: make([]minute, minutes)}
	tools := map[string]*toolCount{}
	for _, r := range rows {
		if !r.IsCall() {
			continue
		}
		c.call(r, now)
		t := tools[r.Tool]
		if t == nil {
			t = &toolCount{Tool: r.Tool}
			tools[r.Tool] = t
			c.Tools = append(c.Tools, t)
		}
		t.add(r)
	}
	for _, m := range c.Minutes {
		c.Most = max(c.Most, m.Passed+m.Refused)
	}
	for _, t := range c.Tools {
		t.sum()
	}
	slices.SortFunc(c.Tools, func(a, b *toolCount) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), strings.Compare(a.Tool, b.Tool))
	})
	c.Others = max(len(c.Tools)-toolsCounted, 0)
	c.Tools = c.Tools[:len(c.Tools)-c.Others]
	return c
}

func (c *counts) call(r *row, now time.Time) {
	c.Calls++
	refused := r.Decision == "refuse"
	if refused {
		c.Refused++
	}
	ago := now.Sub(r.Time)
	if ago < 0 || ago >= minutes*time.Minute {
		return
	}
	if ago < time.Minute {
		c.Lately++
	}
	m := &c.Minutes[minutes-1-int(ago/time.Minute)]
	if refused {
		m.Refused++
	} else {
		m.Passed++
	}
}

func (t *toolCount) add(r *row) {
	t.Calls++
	if r.Decision == "refuse" {
		t.Refused++
	}
	if r.Outcome == "failure" {
		t.Failed++
	}
	if r.Outcome == "success" || r.Outcome == "failure" {
		t.took = append(t.took, r.Millis)
	}
}

func (t *toolCount) sum() {
	t.Timed = len(t.took)
	if t.Timed == 0 {
		return
	}
	slices.Sort(t.took)
	t.Middle, t.Slow = formatMillis(quantile(t.took, 0.5)), formatMillis(quantile(t.took, 0.95))
	t.took = nil
}

// quantile returns the q-quantile of values, which must be sorted and nonempty.
func quantile(values []float64, q float64) float64 {
	return values[max(int(math.Ceil(q*float64(len(values))))-1, 0)]
}

// A bar represents one minute in a chart whose height is 100.
type bar struct {
	X              int
	Passed         float64
	Refused        float64
	AtPass, AtStop float64 // y coordinates of the tops of the bar's segments
	Ago            int     // number of minutes that have passed since the end of the bar's minute
	calls          minute
}

// Words describes the calls in the bar's minute in words, such as "5 calls, 1 refused".
func (b bar) Words() string {
	return fmt.Sprintf("%s, %d refused", text.Count(b.calls.Passed+b.calls.Refused, "call"), b.calls.Refused)
}

// Bars returns the bars of the chart from oldest to newest.
func (c *counts) Bars() (bars []bar) {
	scale := 100 / float64(max(c.Most, 1))
	for i, m := range c.Minutes {
		b := bar{X: i * 10, Passed: float64(m.Passed) * scale, Refused: float64(m.Refused) * scale, Ago: minutes - 1 - i, calls: m}
		b.AtPass = 100 - b.Passed
		b.AtStop = b.AtPass - b.Refused
		bars = append(bars, b)
	}
	return bars
}

// approvalCounts holds statistics about the approvals that the proxy still remembers.
type approvalCounts struct {
	All, Waiting, Approved, Denied, Silent int // total number of approvals, and the number in each state; an approval counts as Silent if it was withdrawn or has expired, even if it had been approved
	Median                                 time.Duration
	Timed                                  int
	Rules                                  []ruleCount // rules whose approval requests were never denied, sorted by the number of approved requests in descending order
}

// A ruleCount counts how many approval requests of a rule were approved and denied.
type ruleCount struct {
	Rule     string
	Approved int
	denied   int
}

// ApprovedShare returns the percentage of answers that approved a call.
func (a *approvalCounts) ApprovedShare() string { return percent(a.Approved, a.Approved+a.Denied) }

// countApprovals returns statistics about the given approvals.
func countApprovals(list []operator.ApprovalInfo) *approvalCounts {
	a := &approvalCounts{All: len(list)}
	rules := map[string]*ruleCount{}
	var waited []float64
	for i := range list {
		one := &list[i]
		switch one.State {
		case operator.Pending:
			a.Waiting++
			continue
		case operator.Approved, operator.Consumed:
			a.Approved++
		case operator.Denied:
			a.Denied++
		default:
			a.Silent++
			continue
		}
		if !one.Answered.IsZero() {
			waited = append(waited, one.Answered.Sub(one.Created).Seconds())
		}
		for _, name := range one.Rules {
			r := rules[name]
			if r == nil {
				r = &ruleCount{Rule: name}
				rules[name] = r
			}
			if one.State == operator.Denied {
				r.denied++
			} else {
				r.Approved++
			}
		}
	}
	if a.Timed = len(waited); a.Timed > 0 {
		slices.Sort(waited)
		a.Median = time.Duration(quantile(waited, 0.5) * float64(time.Second))
	}
	a.neverDenied(rules)
	return a
}

func (a *approvalCounts) neverDenied(rules map[string]*ruleCount) {
	for _, r := range rules {
		if r.denied == 0 {
			a.Rules = append(a.Rules, *r)
		}
	}
	slices.SortFunc(a.Rules, func(x, y ruleCount) int {
		return cmp.Or(cmp.Compare(y.Approved, x.Approved), strings.Compare(x.Rule, y.Rule))
	})
}

// MedianWords returns the median time that people took to answer, in words.
func (a *approvalCounts) MedianWords() string { return text.Duration(a.Median) }
