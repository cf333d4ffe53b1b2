package petri

// A Graph holds the states that [Explore] visited. Where it is not Complete,
// everything in it is about these and proves nothing about the rest.
type Graph struct {
	States    int   // distinct reachable markings
	Edges     int   // pairs of a state and a transition that is enabled in it
	Deadlocks int   // states in which nothing is enabled
	Complete  bool  // every reachable state was visited
	Dead      []int // transitions that were enabled in no state
	Bounds    []int // the largest count of each place
	Pump      *Pump // not nil: the net is unbounded, and this is why

	s *search
}

// Explore visits the states that are reachable from initial, breadth first, at
// most limit of them; a limit below 1 is [DefaultLimit]. A net that it can
// prove to be unbounded is not searched further. [Analyze] says more of a net,
// and costs less for large counters, but does not give access to the states.
func Explore(n *Net, initial Marking, limit int) *Graph {
	o := Options{MaxStates: limit}
	bounds := make([]int, n.Places)
	for i := range bounds {
		bounds[i] = -1
	}
	bounded := n.NeverGrows()
	s := newSearch(n, initial, bounds)
	g := &Graph{s: s}
	if !bounded {
		g.Pump = newCover(n, initial, coverBudget(n, quickCover), true).pump
	}
	if g.Pump == nil {
		g.Complete = s.run(&o) == Finished
	}
	if !g.Complete && !bounded && g.Pump == nil {
		g.Pump = newCover(n, initial, coverBudget(n, thoroughCover), true).pump
	}
	g.States, g.Edges, g.Deadlocks = s.states.Len(), s.edges, s.stuck
	g.Dead, g.Bounds = unfired(s.fired), s.bounds()
	return g
}

// Marking is the marking of a state, in memory of its own.
func (g *Graph) Marking(state int) Marking {
	m := make(Marking, g.s.net.Places)
	g.s.layout.unpack(g.s.states.At(state), m)
	return m
}

// Find is the state with the marking m, if it was visited.
func (g *Graph) Find(m Marking) (state int, ok bool) {
	key := make([]uint64, g.s.layout.words)
	if !g.s.layout.pack(m, key) {
		return 0, false
	}
	return g.s.states.Find(key)
}

// Path is a shortest sequence of transitions that leads to state.
func (g *Graph) Path(state int) []int { return g.s.path(state) }
