package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// A report is a table of the results of a run.
type report struct {
	about   string // date, machine and parameters of the run
	samples []sample

	met    int
	missed []string
}

// heading contains the header cells of the table.
var heading = [...]string{
	"scenario", "`floor`", "`naive` against `floor`", "`memory` against `floor`", "goal",
	"`default` against `floor`", "`default` against `memory`", "goal", "processor time of a call in us: `floor`, `naive`, `memory`, `default`",
}

// write prints the table. Each ratio is computed from values of the same round.
func (r *report) write(w io.Writer, scenarios []scenario) {
	fmt.Fprintf(w, "%s. Ratios are costs, and above 1 is worse: the median of the rounds [least..most].%s\n\n", r.about, r.flush())
	fmt.Fprintf(w, "| %s |\n", strings.Join(heading[:], " | "))
	fmt.Fprintln(w, strings.Repeat("|---", len(heading))+"|")
	for _, s := range scenarios {
		fmt.Fprintf(w, "| %s |\n", strings.Join(r.row(s), " | "))
	}
	if n := r.met + len(r.missed); n > 0 {
		fmt.Fprintf(w, "\n%d of %d goals are met.", r.met, n)
		if len(r.missed) > 0 {
			fmt.Fprintf(w, " Missed: %s.", strings.Join(r.missed, ", "))
		}
		fmt.Fprintln(w)
	}
}

// flush returns a sentence that gives the median, minimum and maximum duration of the flushes in
// all rounds of all scenarios.
func (r *report) flush() string {
	var took []float64
	for _, s := range r.samples {
		if s.Target == flushTarget && s.Error == "" {
			took = append(took, s.Value)
		}
	}
	if len(took) == 0 {
		return ""
	}
	return fmt.Sprintf(" A flush (%d bytes appended, fdatasync) took %.0f us [%.0f..%.0f].", flushSize, median(took), slices.Min(took), slices.Max(took))
}

func (r *report) row(s scenario) []string {
	floor, naive, memory, byDefault := r.series(s, "floor"), r.series(s, "naive"), r.series(s, "memory"), r.series(s, "default")
	return []string{
		s.id + " " + s.what,
		floor.absolute(),
		spread(naive.relativeTo(floor)),
		spread(memory.relativeTo(floor)),
		r.memoryGoal(s, memory.relativeTo(floor)),
		spread(byDefault.relativeTo(floor)),
		spread(byDefault.relativeTo(memory)),
		r.defaultGoal(s, memory, byDefault),
		strings.Join([]string{floor.processor(), naive.processor(), memory.processor(), byDefault.processor()}, ", "),
	}
}

// memoryGoal formats a table cell with the goal for the target "memory" and whether it was met. The
// argument costs contains the target's cost in each round, as a multiple of the cost of the target
// "floor".
func (r *report) memoryGoal(s scenario, costs []float64) string {
	if s.memory == 0 {
		return "-"
	}
	return r.judge(s, "memory", fmt.Sprintf("%.1f", s.memory), costs, median(costs) <= s.memory)
}

// defaultGoal formats a table cell with the goal for the target "default" and whether it was met.
func (r *report) defaultGoal(s scenario, memory, byDefault series) string {
	costs := byDefault.relativeTo(memory)
	text := fmt.Sprintf("%.2f", mostCost)
	switch s.goal {
	case costGoal:
		return r.judge(s, "default", text, costs, median(costs) <= mostCost)
	case flushGoal:
		costs = byDefault.relativeTo(memory.plus(r.series(s, flushTarget)))
		return r.judge(s, "default", text+" of `memory` and a flush: "+spread(costs), costs, median(costs) <= mostCost)
	case rateGoal:
		rate := memory.relativeTo(byDefault)
		return r.judge(s, "default", fmt.Sprintf("%.2f of the calls a second: %s", leastRate, spread(rate)), rate, median(rate) >= leastRate)
	}
	return "-"
}

// judge counts the goal as met or missed. It returns a description of the goal, followed by the
// result. A goal that was not measured counts as missed.
func (r *report) judge(s scenario, target, text string, figures []float64, met bool) string {
	if met && len(figures) > 0 {
		r.met++
		return text + ", met"
	}
	r.missed = append(r.missed, "`"+target+"` in "+s.id)
	if len(figures) == 0 {
		return text + ", **not measured**"
	}
	return text + ", **missed**"
}
