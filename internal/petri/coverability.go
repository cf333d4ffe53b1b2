package petri

import (
	"math"
	"slices"
)

// Omega is the token count of an unbounded place.
const Omega = math.MaxInt

// Limits on the two searches for a proof that the net is unbounded: a quick search before the
// states are visited, and a thorough search if there are too many states.
const (
	quickCover    = 500
	thoroughCover = 20_000
	maxCoverCells = 8_000_000 // maximum number of markings times number of places; limits the memory use
)

func coverBudget(n *Net, markings int) int {
	return min(markings, maxCoverCells/max(1, n.Places))
}

// FindPump returns a proof that the net is unbounded, or nil if it finds none within its limits.
func FindPump(n *Net, initial Marking) *Pump {
	invariants, _ := Invariants(n, initial)
	if n.NeverGrows() || !slices.Contains(invariantBounds(n.Places, invariants), -1) {
		return nil
	}
	return newCover(n, initial, coverBudget(n, thoroughCover), true).pump
}

// A cover is a coverability search after Karp and Miller. If a new marking is strictly larger than
// one of its ancestors, the places that have grown are unbounded and get Omega.
//
// A new marking that is covered by an earlier one is not added, because the earlier one leads to
// markings that are at least as large. This pruning is sound because it never removes a marking
// that is already in the cover. The search terminates because every infinite path would contain a
// marking that covers an earlier one.
type cover struct {
	net      *Net
	nodes    []node
	fired    []bool
	pump     *Pump // first pump found
	work     int   // number of comparisons that are still allowed
	complete bool
}

// node is a marking, its parent, and the transition from the parent to the marking.
type node struct {
	marking    Marking
	sum        int // sum of all tokens; Omega counts as omegaSum
	parent, by int // indexes of the parent node and of the transition; -1 for the initial marking
}

// omegaSum is the maximum that one place adds to the sum of a marking's tokens. An unbounded place
// adds exactly this number. A marking that covers another therefore never has a smaller sum.
const omegaSum = 1 << 40

// newCover runs the search until it is complete or exceeds the given number of markings. If first
// is true, the search also stops at the first pump.
func newCover(n *Net, initial Marking, markings int, first bool) *cover {
	c := &cover{net: n, fired: make([]bool, len(n.Transitions)), work: 200 * markings}
	c.nodes = []node{{slices.Clone(initial), total(initial), -1, -1}}
	for i := 0; i < len(c.nodes); i++ {
		for t := range n.Transitions {
			c.fire(i, t)
			if first && c.pump != nil || len(c.nodes) > markings || c.work < 0 {
				return c
			}
		}
	}
	c.complete = true
	return c
}

// total returns the sum of all tokens in m, counting Omega as omegaSum.
func total(m Marking) (sum int) {
	for _, tokens := range m {
		sum += min(tokens, omegaSum)
	}
	return sum
}

// fire fires t in the marking of node i and adds the result unless it is covered.
func (c *cover) fire(i, t int) {
	tr, from := &c.net.Transitions[t], c.nodes[i].marking
	if !tr.Enabled(from) {
		return
	}
	c.fired[t] = true
	m := slices.Clone(from)
	tr.Fire(m)
	for place, tokens := range from {
		if tokens == Omega {
			m[place] = Omega
		}
	}
	c.accelerate(m, i, t)
	if sum := total(m); !c.covered(m, sum) {
		c.nodes = append(c.nodes, node{m, sum, i, t})
	}
}

// accelerate compares m with each of its ancestors. If m covers an ancestor, accelerate sets the
// places where m has more tokens than the ancestor to Omega. It stores the first proof that the
// net is unbounded in c.pump.
func (c *cover) accelerate(m Marking, parent, by int) {
	for a := parent; a >= 0; a = c.nodes[a].parent {
		c.work--
		low := c.nodes[a].marking
		if !covers(m, low) {
			continue
		}
		var grown []int
		for place := range m {
			if m[place] > low[place] {
				grown = append(grown, place)
			}
		}
		if len(grown) > 0 && c.pump == nil { // before the first pump, no marking contains Omega, so the path is a firing sequence of the net
			c.pump = &Pump{Places: grown, Prefix: c.path(a), Cycle: append(c.path(parent), by)}
			c.pump.Cycle = c.pump.Cycle[len(c.pump.Prefix):]
		}
		for _, place := range grown {
			m[place] = Omega
		}
	}
}

// covered reports whether any marking in the cover is at least as large as m in every place.
func (c *cover) covered(m Marking, sum int) bool {
	for i := range c.nodes {
		if c.nodes[i].sum < sum {
			continue
		}
		c.work--
		if covers(c.nodes[i].marking, m) {
			return true
		}
	}
	return false
}

func (c *cover) path(i int) []int {
	path := []int{}
	for ; i > 0; i = c.nodes[i].parent {
		path = append(path, c.nodes[i].by)
	}
	slices.Reverse(path)
	return path
}

// bounds returns the largest token count in each place, or Omega for unbounded places. The counts
// are exact if the search is complete.
func (c *cover) bounds() []int {
	bounds := make([]int, c.net.Places)
	for i := range c.nodes {
		for place, tokens := range c.nodes[i].marking {
			bounds[place] = max(bounds[place], tokens)
		}
	}
	return bounds
}

func covers(m, low Marking) bool {
	for place := range m {
		if m[place] < low[place] {
			return false
		}
	}
	return true
}
