package petri

import (
	"math"
	"slices"
)

// liveness finds the transitions that are not live. A transition is live if a state that enables it
// can be reached from every reachable state. This is the case if every terminal strongly connected
// component (one without outgoing edges) has a state that enables the transition.
func (s *search) liveness(o *Options) (Answer, []int) {
	n := len(s.net.Transitions)
	switch {
	case n == 0:
		return Yes, nil
	case s.deadlocks > 0:
		return No, unfired(make([]bool, n)) // no transition is live
	case !o.Liveness:
		if dead := unfired(s.fired); len(dead) > 0 {
			return No, dead
		}
		return Unknown, nil
	}
	c := &components{search: s, live: slices.Repeat([]bool{true}, n), ask: o.Continue}
	if !c.run() {
		return Unknown, nil
	}
	return live(unfired(c.live))
}

// components computes the strongly connected components of the state graph with Tarjan's algorithm.
// It does not store edges, but fires each transition again to follow its edge.
type components struct {
	*search
	live []bool // transitions that are enabled in every terminal component completed so far
	ask  func(states int) bool

	number      []uint32 // 1-based number of each state in discovery order; 0 means not visited
	low         []uint32 // low-link of each state; componentDone once its component is complete
	count       uint32
	path        []visit
	work        int      // number of transitions tried so far
	open        []uint32 // states whose component is not yet complete
	next        []uint64
	enabledHere []bool
}

// visit is a state on the path of the depth-first search.
type visit struct {
	state  uint32
	try    int32 // next transition to try
	leaves bool  // whether an edge leads from the component to another component
}

const componentDone = math.MaxUint32

// run visits every state, starting from state 0, the initial state. If the callback returns false,
// run stops and returns false.
func (c *components) run() bool {
	n := c.states.len()
	c.number, c.low = make([]uint32, n), make([]uint32, n)
	c.next, c.enabledHere = make([]uint64, c.layout.words), make([]bool, len(c.live))
	c.enter(0)
	for asked := -askAfter; len(c.path) > 0; {
		if c.work-asked >= askAfter {
			if asked = c.work; c.ask != nil && !c.ask(n) {
				return false
			}
		}
		c.step()
	}
	return true
}

// askAfter is the number of transitions to try between two calls of the callback.
const askAfter = 1 << 20

func (c *components) enter(state uint32) {
	c.count++
	c.number[state], c.low[state] = c.count, c.count
	c.open = append(c.open, state)
	c.path = append(c.path, visit{state: state})
}

// step follows the next edge to an unvisited state. If no such edge is left, it finishes the last
// state on the path.
func (c *components) step() {
	v := &c.path[len(c.path)-1]
	for key := c.states.at(int(v.state)); int(v.try) < len(c.transitions); {
		f := &c.transitions[v.try]
		v.try++
		c.work++
		if f.idle || !c.enabled(f, key) {
			continue
		}
		copy(c.next, key)
		for _, p := range f.parts {
			c.next[p.word] += p.out - p.in
		}
		to, _ := c.states.find(c.next)
		switch {
		case c.number[to] == 0:
			c.enter(uint32(to))
			return
		case c.low[to] == componentDone:
			v.leaves = true
		default:
			c.low[v.state] = min(c.low[v.state], c.number[to])
		}
	}
	c.finishState(*v)
}

// finishState removes a state from the path. If the state is the root of its component, finishState
// also completes the component.
func (c *components) finishState(v visit) {
	c.path = c.path[:len(c.path)-1]
	first := c.low[v.state] == c.number[v.state]
	if first {
		c.closeComponent(v)
	}
	if len(c.path) == 0 {
		return
	}
	back := &c.path[len(c.path)-1]
	back.leaves = back.leaves || v.leaves || first
	if !first {
		c.low[back.state] = min(c.low[back.state], c.low[v.state])
	}
}

// closeComponent completes a component and removes its states from the list of open states. If the
// component has no outgoing edges, all transitions that are disabled in each of its states are
// marked as not live.
func (c *components) closeComponent(v visit) {
	clear(c.enabledHere)
	for {
		state := c.open[len(c.open)-1]
		c.open = c.open[:len(c.open)-1]
		c.low[state] = componentDone
		if !v.leaves {
			key := c.states.at(int(state))
			c.work += len(c.transitions)
			for t := range c.transitions {
				c.enabledHere[t] = c.enabledHere[t] || c.enabled(&c.transitions[t], key)
			}
		}
		if state == v.state {
			break
		}
	}
	if v.leaves {
		return
	}
	for t := range c.live {
		c.live[t] = c.live[t] && c.enabledHere[t]
	}
}
