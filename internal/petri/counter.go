package petri

import (
	"cmp"
	"slices"

	"github.com/petrigate/petrigate/internal/list"
)

// Limits on the effort spent on counters. Beyond them, the states are visited one by one.
const (
	maxControls  = 2_000
	maxBoxes     = 4_000
	maxLoopSteps = 6
	maxLoopWork  = 400 // maximum number of edges to follow in the search for the loops of a control state; see counterSearch
)

// counterSearch explores a net with a few counters, places that hold many tokens. A marking of the
// other places is called a control state (see [control]). The counter values reachable in a control
// state are stored as boxes. If firing a few transitions leads back to the same control state and
// changes a single counter by one, the search adds, in a single step, all values reached by
// repeating this loop. A counter of a million tokens therefore costs as much as one of three.
type counterSearch struct {
	net      *Net
	small    []int // places that are neither counters nor mirrors (see mirror); their token counts form a control state
	counters []int
	mirrors  []mirror

	controls []*control
	index    map[string]int
	boxes    int
	failed   bool
	fired    []bool
}

// mirror is a place that holds many tokens but needs no range of its own, because an invariant ties
// it to a counter. The marking of the small places determines how many tokens the mirror and the
// counter hold together.
type mirror struct {
	place, counter int
	weight         int
	invariant      *Invariant
}

type control struct {
	marking  Marking // marking of the small places; 0 for all other places
	expanded bool
	out, in  []move
	looped   bool
	loops    []move // paths of at most maxLoopSteps moves from the control state back to itself that change a single counter by one
	boxes    []box  // all reachable counter values, as disjoint boxes
}

// move is an edge from one control state to another. It can be followed only if the counter values
// are in guard.
type move struct {
	transition int
	to         int
	guard      box
	step       step
}

// newCounterSearch returns a search whose counters are the places that can hold at least the given
// number of tokens. It returns nil if the net has no such places or too many.
func newCounterSearch(n *Net, initial Marking, bounds []int, invariants []Invariant, least int) *counterSearch {
	c := &counterSearch{net: n, index: make(map[string]int), fired: make([]bool, len(n.Transitions))}
	large := make([]bool, n.Places)
	for place := range large {
		large[place] = max(initial[place], bounds[place]) >= least && bounds[place] < Omega
	}
	mirrored := make([]bool, n.Places)
	for i := range invariants {
		if a, b, w, ok := tiedPlaces(&invariants[i], large); ok && !mirrored[a] && !mirrored[b] && !slices.ContainsFunc(c.mirrors, func(m mirror) bool { return m.counter == b }) {
			mirrored[b] = true
			c.mirrors = append(c.mirrors, mirror{place: b, counter: a, weight: w, invariant: &invariants[i]})
		}
	}
	for place, is := range large {
		switch {
		case !is:
			c.small = append(c.small, place)
		case !mirrored[place]:
			c.counters = append(c.counters, place)
		}
	}
	if len(c.counters) == 0 || len(c.counters) > maxCounters {
		return nil
	}
	for i := range c.mirrors {
		c.mirrors[i].counter = slices.Index(c.counters, c.mirrors[i].counter)
	}
	start := make(Marking, n.Places)
	for _, place := range c.small {
		start[place] = initial[place]
	}
	var b box
	for i, place := range c.counters {
		b.lo[i], b.hi[i] = initial[place], initial[place]
	}
	c.insert(c.control(start), b, nil)
	return c
}

// tiedPlaces returns the two places of an invariant that hold many tokens, and their common weight.
// ok is false if the invariant does not contain exactly two such places, or if their weights
// differ.
func tiedPlaces(inv *Invariant, large []bool) (a, b, weight int, ok bool) {
	var found []Arc
	for _, w := range inv.Weights {
		if large[w.Place] {
			found = append(found, w)
		}
	}
	if len(found) != 2 || found[0].Weight != found[1].Weight {
		return 0, 0, 0, false
	}
	return found[0].Place, found[1].Place, found[0].Weight, true
}

// control returns the index in c.controls of the control state with marking m, adding it if
// necessary.
func (c *counterSearch) control(m Marking) int {
	key := string(m.AppendKey(nil))
	i, ok := c.index[key]
	if !ok {
		i = len(c.controls)
		c.index[key] = i
		c.controls = append(c.controls, &control{marking: m})
		c.failed = c.failed || i >= maxControls
	}
	return i
}

// expand computes the edges that leave a control state, unless they are already known.
func (c *counterSearch) expand(u int) {
	from := c.controls[u]
	if from.expanded || c.failed {
		return
	}
	from.expanded = true
	for t := range c.net.Transitions {
		m, ok := c.fire(t, from.marking)
		if !ok {
			continue
		}
		guard, d := c.guard(t, from.marking)
		to := c.control(m)
		from.out = append(from.out, move{transition: t, to: to, guard: guard, step: d})
		back := move{transition: t, to: u, guard: guard.shift(d), step: d.negate()}
		c.controls[to].in = append(c.controls[to].in, back)
	}
}

// fire returns the marking of the small places after t has fired. It returns false if a small place
// has too few tokens.
func (c *counterSearch) fire(t int, m Marking) (Marking, bool) {
	tr := &c.net.Transitions[t]
	for _, place := range c.small {
		if m[place] < weight(tr.In, place) {
			return nil, false
		}
	}
	next := make(Marking, len(m))
	for _, place := range c.small {
		next[place] = m[place] - weight(tr.In, place) + weight(tr.Out, place)
	}
	return next, true
}

// guard returns the counter values that enable t in a control state with marking m, and t's effect
// on the counters.
func (c *counterSearch) guard(t int, m Marking) (box, step) {
	tr := &c.net.Transitions[t]
	var guard box
	var d step
	for i, place := range c.counters {
		in := weight(tr.In, place)
		guard.lo[i], guard.hi[i] = in, infinite
		d[i] = weight(tr.Out, place) - in
	}
	for _, r := range c.mirrors {
		if in := weight(tr.In, r.place); in > 0 {
			guard.hi[r.counter] = min(guard.hi[r.counter], r.total(m)-in)
		}
	}
	return guard, d
}

// total returns the number of tokens that the mirror and its counter hold together in a control
// state with marking m.
func (r *mirror) total(m Marking) int {
	left := r.invariant.Constant
	for _, w := range r.invariant.Weights {
		left -= w.Weight * m[w.Place] // this subtracts only the tokens in small places, because m is 0 for the mirror and its counter
	}
	return left / r.weight
}

// insert adds a box of counter values to the control state u. It appends the values that are new in
// u to queue, and returns the extended queue.
func (c *counterSearch) insert(u int, b box, queue []controlBox) []controlBox {
	at := c.controls[u]
	for _, part := range b.subtractAll(at.boxes) {
		if c.boxes++; c.boxes > maxBoxes {
			c.failed = true
			return queue
		}
		at.boxes = append(at.boxes, part)
		queue = append(queue, controlBox{u, part})
	}
	return queue
}

// A controlBox is a box of counter values and the index of the control state where they are
// reachable.
type controlBox struct {
	control int
	box     box
}

// run explores all reachable counter values. It reports whether it finished within the limits.
func (c *counterSearch) run(o *Options) bool {
	queue := []controlBox{{0, c.controls[0].boxes[0]}}
	for ; len(queue) > 0 && !c.failed; queue = queue[1:] {
		if o.Continue != nil && !o.Continue(c.boxes) {
			return false
		}
		p := queue[0]
		c.expand(p.control)
		for _, e := range c.controls[p.control].out {
			if r := p.box.intersect(e.guard); !r.empty() {
				c.fired[e.transition] = true
				queue = c.insert(e.to, r.shift(e.step), queue)
			}
		}
		for _, e := range c.loopsOf(p.control) {
			if r := p.box.intersect(e.guard); !r.empty() {
				queue = c.insert(p.control, e.repeat(r), queue)
			}
		}
	}
	return !c.failed
}

// repeat returns the counter values reached by following the loop e at least once, starting from
// the values in r. All values in r must satisfy e's guard.
func (e *move) repeat(r box) box {
	i, _ := e.step.unit()
	if e.step[i] < 0 {
		r.lo[i], r.hi[i] = e.guard.lo[i]-1, r.hi[i]-1
	} else {
		r.lo[i], r.hi[i] = r.lo[i]+1, min(infinite, e.guard.hi[i]+1)
	}
	return r
}

// loopsOf returns the short paths from the control state u back to itself that change a single
// counter by one.
func (c *counterSearch) loopsOf(u int) []move {
	at := c.controls[u]
	if at.looped {
		return at.loops
	}
	at.looped = true
	f := loopFinder{counterSearch: c, home: u, work: maxLoopWork}
	f.follow(u, move{to: u, guard: c.all()}, nil)
	return at.loops
}

// all returns the box that contains all counter values.
func (c *counterSearch) all() (all box) {
	for i := range c.counters {
		all.hi[i] = infinite
	}
	return all
}

type loopFinder struct {
	*counterSearch
	home, work int
}

// follow extends a path that ends in control state u by each edge that leaves u. It records each
// path that returns to its start and changes a single counter by one.
func (f *loopFinder) follow(u int, so move, path []int) {
	f.expand(u)
	path = append(path, u)
	for _, e := range f.controls[u].out {
		if f.work--; f.work < 0 || f.failed {
			return
		}
		way := move{guard: so.guard.intersect(e.guard.shift(so.step.negate())), step: so.step.add(e.step)}
		if way.guard.empty() {
			continue
		}
		if e.to == f.home {
			if _, ok := way.step.unit(); ok {
				f.controls[f.home].loops = append(f.controls[f.home].loops, way)
			}
		} else if len(path) < maxLoopSteps && !slices.Contains(path, e.to) {
			f.follow(e.to, way, path)
		}
	}
}

// exploreCounters tries to explore the net with a counterSearch. It reports whether it succeeded;
// if so, the analysis is complete.
func (a *Analysis) exploreCounters(n *Net, initial Marking, bounds []int, o *Options) bool {
	c := newCounterSearch(n, initial, bounds, a.Invariants, cmp.Or(o.counter, largeCount))
	if c == nil || !c.run(o) || !a.countStates(c, o) {
		return false
	}
	a.Stop, a.Bounded, a.Dead = Finished, Yes, unfired(c.fired)
	a.Bounds = c.bounds()
	a.BytesPerState = float64(c.boxes*48) / float64(a.States)
	switch {
	case a.Deadlocks > 0 && len(n.Transitions) > 0:
		a.Live, a.NotLive = No, unfired(make([]bool, len(n.Transitions))) // no transition is live
	case o.Liveness:
		a.Live, a.NotLive = c.liveness()
	case len(a.Dead) > 0:
		a.Live, a.NotLive = No, a.Dead
	}
	return true
}

// countStates counts states, edges and deadlocks. It returns true if all counters are bounded and
// the numbers are small enough to be exact. Otherwise, it sets the numbers to 0 and returns false.
func (a *Analysis) countStates(c *counterSearch, o *Options) bool {
	exact := true
	add := func(to *int, b box) {
		n, ok := b.size()
		*to += n
		exact = exact && ok && *to < infinite
	}
	for _, u := range c.controls {
		guards := list.Map(u.out, func(m move) box { return m.guard })
		for _, b := range u.boxes {
			for i := range c.counters {
				exact = exact && b.hi[i] < infinite
			}
			add(&a.States, b)
			for _, g := range guards {
				add(&a.Edges, b.intersect(g))
			}
			for _, d := range b.subtractAll(guards) {
				add(&a.Deadlocks, d)
				for _, out := range d.subtractAll(c.terminal(u, o.Terminal)) {
					add(&a.Trapped, out)
				}
			}
		}
	}
	if !exact {
		a.States, a.Edges, a.Deadlocks, a.Trapped = 0, 0, 0, 0
	}
	return exact
}

// terminal returns boxes of counter values. In control state u, these values mark at least one of
// the given places.
func (c *counterSearch) terminal(u *control, places []int) []box {
	var marked []box
	for _, p := range places {
		b := c.all()
		if i := slices.Index(c.counters, p); i >= 0 {
			b.lo[i] = 1
		} else if i := slices.IndexFunc(c.mirrors, func(m mirror) bool { return m.place == p }); i >= 0 {
			b.hi[c.mirrors[i].counter] = c.mirrors[i].total(u.marking) - 1
		} else if u.marking[p] == 0 {
			continue
		}
		marked = append(marked, b)
	}
	return marked
}

// bounds returns the largest token count in each place.
func (c *counterSearch) bounds() []int {
	bounds := make([]int, c.net.Places)
	for _, u := range c.controls {
		for _, b := range u.boxes {
			for _, p := range c.small {
				bounds[p] = max(bounds[p], u.marking[p])
			}
			for i, p := range c.counters {
				bounds[p] = max(bounds[p], b.hi[i])
			}
			for _, r := range c.mirrors {
				bounds[r.place] = max(bounds[r.place], r.total(u.marking)-b.lo[r.counter])
			}
		}
	}
	return bounds
}

// liveness determines the transitions that are not live. For each transition, it searches backwards
// from the states that enable it. The transition is live if this search visits all reachable
// states.
func (c *counterSearch) liveness() (Answer, []int) {
	var lost []int
	for t := range c.net.Transitions {
		met, ok := c.canLeadTo(t)
		if !ok {
			return Unknown, nil
		}
		for u, at := range c.controls {
			if slices.ContainsFunc(at.boxes, func(b box) bool { return len(b.subtractAll(met[u])) > 0 }) {
				lost = append(lost, t)
				break
			}
		}
	}
	return live(lost)
}

// canLeadTo returns, for each control state, the counter values that can lead to a state that
// enables t. They may include unreachable values.
func (c *counterSearch) canLeadTo(t int) (met [][]box, ok bool) {
	met = make([][]box, len(c.controls))
	top := c.hull()
	var queue []controlBox
	boxes := 0
	insert := func(u int, b box) {
		if len(c.controls[u].boxes) == 0 { // the control state is unreachable
			return
		}
		for _, part := range b.intersect(top).subtractAll(met[u]) {
			if part.empty() {
				continue
			}
			boxes++
			met[u] = append(met[u], part)
			queue = append(queue, controlBox{u, part})
		}
	}
	for u, at := range c.controls {
		for _, e := range at.out {
			if e.transition == t {
				insert(u, e.guard)
			}
		}
	}
	for ; len(queue) > 0 && boxes <= maxBoxes; queue = queue[1:] {
		p := queue[0]
		for _, e := range c.controls[p.control].in {
			if r := p.box.intersect(e.guard); !r.empty() {
				insert(e.to, r.shift(e.step))
			}
		}
		for _, e := range c.loopsOf(p.control) {
			back := move{guard: e.guard.shift(e.step).intersect(top), step: e.step.negate()}
			if r := p.box.intersect(back.guard); !r.empty() {
				insert(p.control, back.repeat(r))
			}
		}
	}
	return met, boxes <= maxBoxes
}

// hull returns the smallest box, starting at 0, that contains all reachable counter values.
func (c *counterSearch) hull() box {
	var top box
	for _, u := range c.controls {
		for _, b := range u.boxes {
			for i := range c.counters {
				top.hi[i] = max(top.hi[i], b.hi[i])
			}
		}
	}
	return top
}
