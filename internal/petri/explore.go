package petri

// DefaultLimit is the number of states after which [Explore] gives up where
// no other limit is given.
const DefaultLimit = 100_000

// pumpBudget is how many pairs of markings are compared to find out whether a
// net is unbounded. Bounded nets with long paths would take ever longer.
const pumpBudget = 20_000_000

// A Graph is what [Explore] found out. Where it is not Complete, everything in
// it is about the states that were visited and proves nothing about the rest.
type Graph struct {
	States    int   // distinct reachable markings
	Edges     int   // pairs of a state and a transition that is enabled in it
	Deadlocks int   // states in which nothing is enabled
	Complete  bool  // every reachable state was visited
	Dead      []int // transitions that were enabled in no state
	Bounds    []int // the largest count of each place
	Pump      *Pump // not nil: the net is unbounded, and this is why

	net   *Net
	arena []int // the markings of the states, one after the other
	nodes []node
	index map[string]int
	key   []byte

	comparisons int // that the search for a pump may still make
}

// node says how the search came to a state.
type node struct {
	parent, by int // -1 for the initial state
	sum        int // of all tokens
	low        int // the least sum on the path to here
}

// A Pump proves that a net is unbounded: after Prefix, Cycle can be repeated
// for ever, and each round adds tokens to Places and takes none from any.
type Pump struct {
	Places        []int
	Prefix, Cycle []int // transitions
}

// Explore visits the states that are reachable from initial, breadth first, at
// most limit of them; a limit below 1 is [DefaultLimit]. It stops at the first
// proof that the net is unbounded. That test is complete: the search tree of
// an unbounded net has an infinite path, on which some marking must cover an
// earlier one.
func Explore(n *Net, initial Marking, limit int) *Graph {
	if limit < 1 {
		limit = DefaultLimit
	}
	g := &Graph{net: n, index: make(map[string]int), Bounds: make([]int, n.Places), comparisons: pumpBudget}
	g.add(initial, -1, -1)
	seen := make([]bool, len(n.Transitions))
	g.Complete = true
	for state := 0; state < len(g.nodes) && g.Complete; state++ {
		g.expand(state, limit, seen)
	}
	for t, ok := range seen {
		if !ok {
			g.Dead = append(g.Dead, t)
		}
	}
	g.States = len(g.nodes)
	return g
}

// expand fires every enabled transition of state once.
func (g *Graph) expand(state, limit int, seen []bool) {
	next := make(Marking, g.net.Places)
	enabled := 0
	for t := range g.net.Transitions {
		tr := &g.net.Transitions[t]
		if !tr.Enabled(g.Marking(state)) {
			continue
		}
		seen[t] = true
		enabled++
		g.Edges++
		copy(next, g.Marking(state))
		tr.Fire(next)
		if _, ok := g.Find(next); ok {
			continue
		}
		if len(g.nodes) == limit {
			g.Complete = false
			return
		}
		if g.add(next, state, t); g.pumped(len(g.nodes) - 1) {
			g.Complete = false
			return
		}
	}
	if enabled == 0 {
		g.Deadlocks++
	}
}

// add appends a state that is new.
func (g *Graph) add(m Marking, parent, by int) {
	sum := 0
	for place, tokens := range m {
		sum += tokens
		g.Bounds[place] = max(g.Bounds[place], tokens)
	}
	low := sum
	if parent >= 0 {
		low = min(low, g.nodes[parent].low)
	}
	g.key = m.AppendKey(g.key[:0])
	g.index[string(g.key)] = len(g.nodes)
	g.nodes = append(g.nodes, node{parent: parent, by: by, sum: sum, low: low})
	g.arena = append(g.arena, m...)
}

// pumped looks for an ancestor that state strictly covers.
func (g *Graph) pumped(state int) bool {
	sum := g.nodes[state].sum
	m := g.Marking(state)
	for a := g.nodes[state].parent; a >= 0 && g.nodes[a].low < sum && g.comparisons > 0; a = g.nodes[a].parent {
		g.comparisons--
		if g.nodes[a].sum < sum && covers(m, g.Marking(a)) {
			g.Pump = g.pump(a, state)
			return true
		}
	}
	return false
}

func (g *Graph) pump(from, to int) *Pump {
	p := &Pump{Prefix: g.Path(from)}
	p.Cycle = g.Path(to)[len(p.Prefix):]
	low, high := g.Marking(from), g.Marking(to)
	for place := range high {
		if high[place] > low[place] {
			p.Places = append(p.Places, place)
		}
	}
	return p
}

func covers(m, low Marking) bool {
	for place := range m {
		if m[place] < low[place] {
			return false
		}
	}
	return true
}

// Marking is the marking of a state. It must not be changed.
func (g *Graph) Marking(state int) Marking {
	return Marking(g.arena[state*g.net.Places : (state+1)*g.net.Places])
}

// Find is the state with the marking m, if it was visited.
func (g *Graph) Find(m Marking) (state int, ok bool) {
	g.key = m.AppendKey(g.key[:0])
	state, ok = g.index[string(g.key)]
	return state, ok
}

// Path is a shortest sequence of transitions that leads to state.
func (g *Graph) Path(state int) []int {
	n := 0
	for s := state; g.nodes[s].parent >= 0; s = g.nodes[s].parent {
		n++
	}
	path := make([]int, n)
	for s := state; n > 0; s = g.nodes[s].parent {
		n--
		path[n] = g.nodes[s].by
	}
	return path
}
