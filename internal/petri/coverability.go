package petri

import (
	"math"
	"slices"
)

// Omega is the number of tokens of a place that can have any number.
const Omega = math.MaxInt

// FindPump proves that a net is unbounded, if it can with bounded effort.
func FindPump(n *Net, initial Marking) *Pump {
	invariants, _ := Invariants(n, initial)
	if n.NeverGrows() || !slices.Contains(invariantBounds(n.Places, invariants), -1) {
		return nil
	}
	return newCover(n, initial, coverBudget(n, thoroughCover), true).pump
}

// A cover is a search for the markings that the reachable ones do not exceed:
// the procedure of Karp and Miller. A marking that strictly covers one on the
// way to it proves that the places in which it is larger are unbounded, and
// gets Omega there.
//
// A new marking that an earlier one covers is not followed: what it could lead
// to, the earlier one leads to as well. No marking is ever taken back, so this
// is safe (it is not where old markings are pruned), and on each path the
// markings cannot grow for ever without one covering another.
type cover struct {
	net      *Net
	nodes    []node
	fired    []bool
	pump     *Pump // the first that was found
	work     int   // comparisons that may still be made
	complete bool
}

// node is a marking and how the search came to it: by a transition from its parent.
type node struct {
	marking    Marking
	sum        int // of all tokens; Omega counts as much as anything can
	parent, by int // -1 for the initial marking
}

// omegaSum is the contribution of an unbounded place to a sum, so that a marking
// with more of them never has the smaller sum.
const omegaSum = 1 << 40

// newCover searches until it is complete, or has so many markings, or where
// first is set until there is a pump.
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

// total returns the sum of all tokens of m.
func total(m Marking) (sum int) {
	for _, tokens := range m {
		sum += min(tokens, omegaSum)
	}
	return sum
}

// fire follows t from marking i.
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

// accelerate raises what grew since a marking on the way here.
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
		if len(grown) > 0 && c.pump == nil { // there is no Omega yet, so the path can be run as it is
			c.pump = &Pump{Places: grown, Prefix: c.path(a), Cycle: append(c.path(parent), by)}
			c.pump.Cycle = c.pump.Cycle[len(c.pump.Prefix):]
		}
		for _, place := range grown {
			m[place] = Omega
		}
	}
}

// covered reports whether m adds nothing to what is there.
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

// bounds returns the largest counts, Omega for unbounded places. They are exact if
// the search is complete.
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
