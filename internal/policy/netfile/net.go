// Package netfile reads Petri nets from files in several formats: the nets of a configuration (YAML
// or JSON), plain place/transition nets in JSON, and PNML, the exchange format of model checkers
// (ISO/IEC 15909-2). It also writes PNML and formats the results of analyzing a net.
//
// The plain JSON format lists the places and the weighted arcs of each transition:
//
//	{"name": "water", "places": ["H2", "O2", "H2O"], "initial": {"H2": 10, "O2": 5},
//	 "transitions": [{"name": "burn", "in": [["H2", 2], ["O2", 1]], "out": [["H2O", 2]]}]}
//
// [Read] returns the nets in a file; [NewReport] converts the analysis of a net to a [Report],
// which can be printed or encoded as JSON. The package starts no goroutines and has no shared
// state.
package netfile

import (
	"fmt"
	"math"

	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/petri"
)

// A Net is a Petri net with the names of its places and transitions.
type Net struct {
	Name        string
	Places      []string
	Transitions []string // names of the transitions, in the same order as Petri.Transitions
	Petri       petri.Net
	Initial     petri.Marking
	Terminal    []int // indexes of the places where the net may stop
}

// maxCount is the maximum weight of an arc and the maximum number of initial tokens in a place.
const maxCount = math.MaxInt32

// A weightedArc is an arc to or from the place with the given name.
type weightedArc struct {
	place  string
	weight int
}

// A builder builds a net and records the first error.
type builder struct {
	file    string
	net     *Net
	numbers map[string]int
	names   map[string]bool // names of transitions added so far
	err     error
}

func newBuilder(file, name string) *builder {
	return &builder{file: file, net: &Net{Name: name}, numbers: make(map[string]int), names: make(map[string]bool)}
}

func (b *builder) fail(format string, args ...any) {
	if b.err == nil {
		b.err = diag.Problem{File: b.file, Msg: fmt.Sprintf(format, args...)}
	}
}

func (b *builder) place(name string, tokens int) {
	if _, twice := b.numbers[name]; twice {
		b.fail("duplicate place %q", name)
	}
	if tokens < 0 || tokens > maxCount {
		b.fail("the place %q starts with %d tokens; it can be 0 to %d", name, tokens, maxCount)
	}
	b.numbers[name] = len(b.net.Places)
	b.net.Places = append(b.net.Places, name)
	b.net.Initial = append(b.net.Initial, tokens)
	b.net.Petri.Places++
}

func (b *builder) transition(name string, in, out []weightedArc) {
	if b.names[name] {
		b.fail("duplicate transition %q", name)
	}
	b.names[name] = true
	b.net.Transitions = append(b.net.Transitions, name)
	b.net.Petri.Transitions = append(b.net.Petri.Transitions, petri.Transition{In: b.arcs(name, in), Out: b.arcs(name, out)})
}

// arcs converts the arcs between a transition and its places. The weights of several arcs for the
// same place are added up.
func (b *builder) arcs(transition string, list []weightedArc) []petri.Arc {
	var arcs []petri.Arc
	at := make(map[int]int)
	for _, w := range list {
		place, ok := b.numbers[w.place]
		switch {
		case !ok:
			b.fail("the transition %q has an arc to the unknown place %q", transition, w.place)
			continue
		case w.weight < 1 || w.weight > maxCount:
			b.fail("the arc between %q and %q has the weight %d; it can be 1 to %d", transition, w.place, w.weight, maxCount)
			continue
		}
		i, again := at[place]
		if !again {
			i = len(arcs)
			at[place] = i
			arcs = append(arcs, petri.Arc{Place: place})
		}
		if arcs[i].Weight += w.weight; arcs[i].Weight > maxCount {
			b.fail("the arcs between %q and %q weigh more than %d together", transition, w.place, maxCount)
		}
	}
	return arcs
}

func (b *builder) finish() (*Net, error) {
	if b.err != nil {
		return nil, b.err
	}
	return b.net, nil
}
