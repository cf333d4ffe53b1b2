package main

import (
	"fmt"
	"maps"
	"slices"
)

// A series contains a target's results in a scenario, keyed by round. Failed rounds are omitted.
type series struct {
	metric string
	values map[int]float64
	cpu    []float64
}

// series returns the target's results in the scenario.
func (r *report) series(s scenario, target string) series {
	out := series{values: map[int]float64{}}
	for _, t := range r.samples {
		if t.Scenario != s.id || t.Target != target || t.Error != "" || t.Value <= 0 {
			continue
		}
		out.metric, out.values[t.Round] = t.Metric, t.Value
		if t.Load != nil {
			out.cpu = append(out.cpu, t.Load.ProxyCPU)
		}
	}
	return out
}

// relativeTo divides the costs in s by the costs in reference. It returns one quotient for each
// round that both series contain. If the series contain rates, a cost is the inverse of a rate.
func (s series) relativeTo(reference series) (costs []float64) {
	for _, round := range slices.Sorted(maps.Keys(s.values)) {
		other, ok := reference.values[round]
		switch {
		case !ok:
		case s.metric == "rate":
			costs = append(costs, other/s.values[round])
		default:
			costs = append(costs, s.values[round]/other)
		}
	}
	return costs
}

// plus returns the sum of s and other for each round that both contain.
func (s series) plus(other series) series {
	sum := series{metric: s.metric, values: map[int]float64{}}
	for round, v := range s.values {
		if o, ok := other.values[round]; ok {
			sum.values[round] = v + o
		}
	}
	return sum
}

// absolute formats the median of the series as an absolute value with its unit.
func (s series) absolute() string {
	if len(s.values) == 0 {
		return "-"
	}
	unit := map[string]string{"p50": "us", "rate": "calls/s", "cold": "ms"}[s.metric]
	return fmt.Sprintf("%.0f %s", median(slices.Collect(maps.Values(s.values))), unit)
}

// processor formats the median processor time per call, in microseconds.
func (s series) processor() string {
	if len(s.cpu) == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f", median(s.cpu))
}

// spread formats the median of v, followed by the minimum and maximum if v has more than one value.
func spread(v []float64) string {
	switch len(v) {
	case 0:
		return "-"
	case 1:
		return fmt.Sprintf("%.2f", v[0])
	}
	return fmt.Sprintf("%.2f [%.2f..%.2f]", median(v), slices.Min(v), slices.Max(v))
}

// median returns the median of v, or 0 if v is empty.
func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	v = slices.Sorted(slices.Values(v))
	if n := len(v); n%2 == 0 {
		return (v[n/2-1] + v[n/2]) / 2
	}
	return v[len(v)/2]
}
