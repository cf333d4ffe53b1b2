package verify_test

import (
	"maps"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
)

// brute explores every sequence of calls and outcomes with the decisions of the gate itself,
// independently of package verify.
type brute struct {
	policy *gate.Policy
	calls  []gate.Call
	names  [][]gate.Name

	sampled bool                // the policy has further calls
	results []string            // result of the call if it succeeds, by call; may be nil
	fresh   func(call int) bool // selects the calls whose states are considered for claims about all states; nil means all calls
	about   func(call int) bool // selects the calls that are considered for the names in claims; nil means all calls
	ends    [][]int             // successors when a call ends, by state

	played *board // nil until needed

	states []bruteState
	index  map[bruteState]int
	moves  [][]move // answer, by state and call
	steps  [][]int  // successors after another event, by state
	happy  [][]int  // successors after another success, by state
	closed bool     // every state was visited
	begins [][]int  // successors when a call begins, by state and call; -1: none
}

type bruteState struct {
	*position
	mon int
}

const (
	bruteStates = 300
	bruteAlike  = 2 // maximum number of equal calls in flight
	unknownCall = -1
)

// newBrute prepares the calls of a policy. If the policy has a clock, its ticks are calls, too.
func newBrute(p *gate.Policy) *brute {
	nets, ticks := clockless(p.Nets())
	if len(ticks) == 0 {
		return &brute{policy: p}
	}
	played, err := gate.NewPolicy(nets, p.Options())
	if err != nil {
		panic(err) // a policy with a clock has another call
	}
	return &brute{policy: played, calls: ticks, names: make([][]gate.Name, len(ticks))}
}

func isTick(c gate.Call) bool { return strings.HasPrefix(c.Tool, tick) }

func cloneState(s *gate.State) *gate.State {
	c := *s
	c.Nets = slices.Clone(s.Nets)
	c.Calls = maps.Clone(s.Calls)
	c.Asks = maps.Clone(s.Asks)
	c.Spent = nil
	return &c
}

// A begun call is a call that was admitted and is in flight.
type begun struct {
	state  *gate.State // state after the admission
	number uint64
	manual bool           // approval was requested
	steps  []gate.Step    // the approval requests
	nets   []gate.Verdict // verdicts of the affected nets
}

// begin decides a call and grants approvals.
func begin(p *gate.Policy, s *gate.State, c gate.Call) (begun, bool) {
	return beginPrepared(p.Prepare(c), s)
}

func beginPrepared(c *gate.Prepared, s *gate.State) (begun, bool) {
	d, delta := c.Decide(s, nil)
	next, manual := s, false
	var steps []gate.Step
	if ask, isAsk := d.(*gate.Ask); isAsk {
		next = cloneState(next)
		next.Apply(delta)
		d, delta = c.Decide(next, ask.Grant())
		manual, steps = true, ask.Steps
	}
	allow, isAllow := d.(*gate.Allow)
	if !isAllow {
		return begun{}, false
	}
	next = cloneState(next)
	next.Apply(delta)
	return begun{state: next, number: allow.Ticket.Number, manual: manual, steps: steps, nets: allow.Nets}, true
}

func settle(p *gate.Policy, s *gate.State, number uint64, o gate.Outcome) *gate.State {
	return settleWith(p, s, number, o, "")
}

func settleWith(p *gate.Policy, s *gate.State, number uint64, o gate.Outcome, result string) *gate.State {
	next := cloneState(s)
	e := gate.End{Outcome: o}
	if result != "" {
		e.Result = []byte(result)
	}
	next.Apply(p.PrepareEnd(e).Settle(s, number))
	return next
}

// statesOf yields the net's state and the states for the values of its key.
func statesOf(n *gate.NetData) []*gate.NetData {
	all := []*gate.NetData{n}
	for _, text := range valuesOf(n) {
		all = append(all, n.Values.Get(text))
	}
	return all
}

func valuesOf(n *gate.NetData) (texts []string) {
	for text := range n.Values.All() {
		texts = append(texts, text)
	}
	slices.Sort(texts)
	return texts
}

func (b *brute) has(call int, name gate.Tool, evidence bool) bool {
	return (b.about == nil || b.about(call)) && carried(b.calls[call], b.names[call], name, evidence)
}

// explore visits the reachable positions. The monitor for a never-before claim, which is part of
// the state, records whether a call of first has succeeded since the last call of tool.
func (b *brute) explore(tool, first gate.Tool) {
	b.index = make(map[bruteState]int)
	b.closed = !b.sampled
	isTool, isFirst := b.having(tool, false), b.having(first, true)
	b.add(bruteState{b.table().start, 0})
	for k := 0; k < len(b.states); k++ {
		st := b.states[k]
		moves := b.movesOf(st.position)
		b.moves = append(b.moves, moves)
		begins := slices.Repeat([]int{-1}, len(b.calls))
		var steps, happy, ends []int
		for c := range moves {
			m := &moves[c]
			if !m.ok {
				continue
			}
			mon := st.mon
			if isTool[c] {
				mon = 0
			}
			if m.next != nil {
				begins[c] = b.add(bruteState{m.next, mon})
				steps = append(steps, begins[c])
			}
			if isFirst[c] && !isTick(b.calls[c]) {
				mon = 1
			}
			happy = append(happy, b.add(bruteState{m.done, mon}))
		}
		for _, e := range b.endingsOf(st.position) {
			mon := st.mon
			if e.outcome == gate.Success && isFirst[e.call] {
				mon = 1
			}
			to := b.add(bruteState{e.next, mon})
			ends = append(ends, to)
			if e.outcome == gate.Success {
				happy = append(happy, to)
			}
		}
		b.begins, b.ends = append(b.begins, begins), append(b.ends, ends)
		b.steps, b.happy = append(b.steps, append(steps, ends...)), append(b.happy, happy)
		if len(b.states) > bruteStates {
			b.closed = false
			return
		}
	}
}

// having returns which calls have the name.
func (b *brute) having(name gate.Tool, evidence bool) []bool {
	has := make([]bool, len(b.calls))
	for c := range has {
		has[c] = b.has(c, name, evidence)
	}
	return has
}

func (b *brute) add(st bruteState) int {
	if k, ok := b.index[st]; ok {
		return k
	}
	b.index[st] = len(b.states)
	b.states = append(b.states, st)
	return len(b.states) - 1
}

// again resets the search for another question about the same calls.
func (b *brute) again() *brute {
	return &brute{policy: b.policy, calls: b.calls, names: b.names, results: b.results, sampled: b.sampled, about: b.about, played: b.table()}
}

// depth returns the length of the shortest run of successive successful calls that ends with a call
// with the name, or 0. closed reports whether everything was explored.
func (b *brute) depth(name gate.Tool) (length int, closed bool) {
	has := b.having(name, false)
	seen := map[*position]bool{}
	layer := []*position{b.table().start}
	for length := 1; len(layer) > 0; length++ {
		var next []*position
		for i := 0; i < len(layer); i++ {
			moves := b.movesOf(layer[i])
			for c := range moves {
				m := &moves[c]
				switch {
				case !m.ok:
				case has[c]:
					return length, !b.sampled
				case seen[m.done]:
				case isTick(b.calls[c]): // ticks are not calls
					seen[m.done] = true
					layer = append(layer, m.done)
				default:
					seen[m.done] = true
					next = append(next, m.done)
				}
			}
		}
		if len(seen) > bruteStates {
			return 0, false
		}
		layer = next
	}
	return 0, !b.sampled
}

// A want is the goal of a run: an admitted call, selected by the nets' verdicts, or an excused
// state.
type want struct {
	call    func(call int, nets []gate.Verdict) bool
	excused func(*gate.State) bool // may be nil
}

// admitted reports whether some state admits a matching call.
func (b *brute) admitted(ok func(state, call int) bool) bool {
	for k := range b.moves {
		for c := range b.moves[k] {
			if b.moves[k][c].ok && ok(k, c) {
				return true
			}
		}
	}
	return false
}

// escapes returns the states where a successful continuation reaches the goal.
func (b *brute) escapes(w want) []bool {
	good := make([]bool, len(b.states))
	for k, s := range b.states {
		good[k] = w.excused != nil && w.excused(s.s)
	}
	for k := range b.moves {
		for c := range b.moves[k] {
			m := &b.moves[k][c]
			good[k] = good[k] || m.ok && !isTick(b.calls[c]) && w.call(c, m.nets)
		}
	}
	for again := true; again; {
		again = false
		for k := range b.moves {
			if !good[k] && slices.ContainsFunc(b.happy[k], func(to int) bool { return good[to] }) {
				good[k], again = true, true
			}
		}
	}
	return good
}

// always reports whether a successful continuation reaches the goal from every state.
func (b *brute) always(w want) bool {
	good := b.escapes(w)
	for k, seen := range b.withoutThird() {
		if seen && k < len(b.moves) && !good[k] {
			return false
		}
	}
	return true
}

// withoutThird returns the states reached without calls with the third value. Continuations may use
// that value.
func (b *brute) withoutThird() []bool {
	seen := make([]bool, len(b.states))
	if b.fresh == nil {
		for k := range seen {
			seen[k] = true
		}
		return seen
	}
	seen[0] = true
	for queue := []int{0}; len(queue) > 0; queue = queue[1:] {
		k := queue[0]
		if k >= len(b.moves) {
			continue
		}
		next := slices.Clone(b.ends[k])
		for c, to := range b.begins[k] {
			if to >= 0 && b.fresh(c) {
				next = append(next, to)
			}
		}
		for _, to := range next {
			if !seen[to] {
				seen[to] = true
				queue = append(queue, to)
			}
		}
	}
	return seen
}

// goesOn reports whether a successful continuation reaches the goal.
func (b *brute) goesOn(s *gate.State, w want) bool {
	var open []flying
	for _, h := range heldIn(s) {
		open = append(open, flying{h.call, unknownCall})
	}
	goes, _ := b.goesFrom(b.table().at(s, open), w)
	return goes
}

// goesFrom is like goesOn but starts from a position. closed reports whether everything was
// explored.
func (b *brute) goesFrom(from *position, w want) (goes, closed bool) {
	seen, queue := map[*position]bool{from: true}, []*position{from}
	add := func(at *position) {
		if !seen[at] {
			seen[at] = true
			queue = append(queue, at)
		}
	}
	for k := 0; k < len(queue) && k < bruteStates; k++ {
		at := queue[k]
		if w.excused != nil && w.excused(at.s) {
			return true, true
		}
		for c, m := range b.movesOf(at) {
			if m.ok && !isTick(b.calls[c]) && w.call(c, m.nets) {
				return true, true
			}
			if m.ok {
				add(m.done)
			}
		}
		for _, e := range b.endingsOf(at) {
			if e.outcome == gate.Success {
				add(e.next)
			}
		}
	}
	return false, len(queue) < bruteStates
}

// most returns the largest number of calls with the name in a single run, but at most limit.
func (b *brute) most(name gate.Tool, limit int) int {
	best := make([]int, len(b.states))
	for i := range best {
		best[i] = -1
	}
	best[0] = 0
	most, has := 0, b.having(name, false)
	for again := true; again; {
		again = false
		for k := range b.moves {
			if best[k] < 0 {
				continue
			}
			for c := range b.moves[k] {
				if !b.moves[k][c].ok {
					continue
				}
				count := best[k]
				if has[c] {
					count = min(limit, count+1)
				}
				most = max(most, count)
				if next := b.begins[k][c]; next >= 0 && count > best[next] {
					best[next], again = count, true
				}
			}
			for _, to := range b.steps[k] {
				if best[k] > best[to] {
					best[to], again = best[k], true
				}
			}
		}
	}
	return most
}
