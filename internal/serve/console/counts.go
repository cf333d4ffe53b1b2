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

// A toolCount counts the calls of one tool in the journal.
type toolCount struct {
	Tool     string
	Calls    int
	Refused  int
	Failed   int
	P50, P95 float64 // milliseconds, of the calls that have ended
	Timed    int

	took []float64
}

// RefusedShare returns the percentage of refused calls.
func (t *toolCount) RefusedShare() string { return percent(t.Refused, t.Calls) }

// Middle returns the median duration of calls.
func (t *toolCount) Middle() string { return formatMillis(t.P50) }

// Slow returns the 95th percentile of the durations of calls.
func (t *toolCount) Slow() string { return formatMillis(t.P95) }

// percent formats part of all in percent. It never rounds down to 0 or up to 100.
func percent(part, all int) string {
	switch {
	case all == 0 || part == 0:
		return "0 %"
	case part*200 < all:
		return "< 1 %"
	case part < all && part*200 > 199*all:
		return "> 99 %"
	}
	return fmt.Sprintf("%.0f %%", 100*float64(part)/float64(all))
}

// A minute counts the calls of one minute.
type minute struct {
	Passed, Refused int
}

// minutes is the number of minutes that are shown.
const minutes = 60

// counts summarizes the rows.
type counts struct {
	Calls, Refused int
	Lately         int // calls in the last minute
	Minutes        []minute
	Most           int // largest number of calls in one minute
	Tools          []*toolCount
	Others         int // number of tools that are not shown
}

// toolsCounted is the number of tools that are shown.
const toolsCounted = 30

// RefusedShare returns the percentage of refused calls.
func (c *counts) RefusedShare() string { return percent(c.Refused, c.Calls) }

// countCalls counts the calls among the rows.
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
	t.P50, t.P95 = quantile(t.took, 0.5), quantile(t.took, 0.95)
	t.took = nil
}

// quantile returns a quantile of sorted values.
func quantile(values []float64, q float64) float64 {
	return values[max(int(math.Ceil(q*float64(len(values))))-1, 0)]
}

// A bar is the bar of a minute in a chart of height 100.
type bar struct {
	X              int
	Passed         float64
	Refused        float64
	AtPass, AtStop float64 // y coordinates
	Ago            int     // in minutes
	calls          minute
}

// Words describes the number of calls in the minute.
func (b bar) Words() string {
	return fmt.Sprintf("%s, %d refused", text.Count(b.calls.Passed+b.calls.Refused, "call"), b.calls.Refused)
}

// Bars returns the bars of the chart, oldest first.
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

// approvalCounts counts the kept approvals.
type approvalCounts struct {
	All, Waiting, Approved, Denied, Silent int // Silent: expired or withdrawn
	Median                                 time.Duration
	Timed                                  int
	Rules                                  []ruleCount // rules whose approvals were answered and never denied, most asked first
}

// A ruleCount counts the approvals of a rule.
type ruleCount struct {
	Rule     string
	Approved int
	denied   int
}

// ApprovedShare returns the percentage of answers that approve.
func (a *approvalCounts) ApprovedShare() string { return percent(a.Approved, a.Approved+a.Denied) }

// countApprovals counts approvals.
func countApprovals(list []operator.ApprovalInfo) *approvalCounts {
	a := &approvalCounts{All: len(list)}
	rules := map[string]*ruleCount{}
	var waited []float64
	for i := range list {
		one := &list[i]
		switch one.State {
		case operator.Pending:
			a.Waiting++
		case operator.Approved, operator.Consumed:
			a.Approved++
		case operator.Denied:
			a.Denied++
		default:
			a.Silent++
		}
		answered := one.State == operator.Approved || one.State == operator.Consumed || one.State == operator.Denied
		if !answered {
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

// MedianWords formats the median time to an answer.
func (a *approvalCounts) MedianWords() string { return text.Duration(a.Median) }
