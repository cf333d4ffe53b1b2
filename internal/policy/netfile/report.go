package netfile

import (
	"time"

	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/petri"
)

// A Report is the result of "petrigate analyze". Other tools depend on its JSON format. Unknown
// values are null.
type Report struct {
	Version         int                 `json:"version"`
	Name            string              `json:"name"`
	States          *int                `json:"states"`
	Edges           *int                `json:"edges"`
	Deadlocks       *int                `json:"deadlocks"`
	DeadTransitions []string            `json:"deadTransitions"`
	Bounds          map[string]int      `json:"bounds"`
	UnboundedPlaces []string            `json:"unboundedPlaces"`
	Invariants      []reportedInvariant `json:"invariants"`
	Live            *bool               `json:"live"`
	Seconds         float64             `json:"seconds"`
	BytesPerState   float64             `json:"bytesPerState"`
	Incomplete      bool                `json:"incomplete,omitempty"`

	NotLive []string      `json:"notLive,omitempty"` // transitions that are not live
	Trap    []string      `json:"trap,omitempty"`    // shortest path to a deadlock without a token in a terminal place
	Trapped *int          `json:"trapped,omitempty"` // number of deadlocks without a token in a terminal place, if the net has terminal places
	Pump    *reportedPump `json:"pump,omitempty"`

	net      *Net
	result   *petri.Analysis
	liveness bool // whether liveness was analyzed
}

type reportedInvariant struct {
	Weights  map[string]int `json:"weights"`
	Constant int            `json:"constant"`
}

// A reportedPump is a firing sequence that makes a net unbounded.
type reportedPump struct {
	Prefix []string `json:"prefix"`
	Cycle  []string `json:"cycle"`
	Places []string `json:"places"`
}

// NewReport returns a report on the analysis of a net. live reports whether liveness was analyzed.
func NewReport(n *Net, a *petri.Analysis, live bool, took time.Duration) *Report {
	r := &Report{
		Version: 1, Name: n.Name, net: n, result: a, liveness: live,
		DeadTransitions: []string{}, Bounds: map[string]int{}, UnboundedPlaces: namesOf(n.Places, a.Unbounded), Invariants: []reportedInvariant{},
		Seconds: took.Seconds(), BytesPerState: a.BytesPerState, Incomplete: a.Stop != petri.Finished,
	}
	for _, inv := range a.Invariants {
		weights := make(map[string]int)
		for _, w := range inv.Weights {
			weights[n.Places[w.Place]] = w.Weight
		}
		r.Invariants = append(r.Invariants, reportedInvariant{weights, inv.Constant})
	}
	if a.Pump != nil {
		r.Pump = &reportedPump{namesOf(n.Transitions, a.Pump.Prefix), namesOf(n.Transitions, a.Pump.Cycle), namesOf(n.Places, a.Pump.Places)}
	}
	if r.Incomplete { // the remaining results would cover only some of the states
		return r
	}
	r.DeadTransitions = namesOf(n.Transitions, a.Dead)
	for place, bound := range a.Bounds {
		if bound != petri.Omega {
			r.Bounds[n.Places[place]] = bound
		}
	}
	if a.Bounded == petri.No {
		return r
	}
	r.States, r.Edges, r.Deadlocks = &a.States, &a.Edges, &a.Deadlocks
	if len(n.Terminal) > 0 {
		r.Trapped = &a.Trapped
	}
	r.Trap = namesOf(n.Transitions, a.Trap)
	if a.Live != petri.Unknown {
		live := a.Live == petri.Yes
		r.Live, r.NotLive = &live, namesOf(n.Transitions, a.NotLive)
	}
	return r
}

// namesOf returns the names with the given indexes. The result is never nil, so that its JSON
// encoding is never null.
func namesOf(names []string, numbers []int) []string {
	return append([]string{}, list.Map(numbers, func(i int) string { return names[i] })...)
}
