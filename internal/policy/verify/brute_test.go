package verify_test

import (
	"encoding/binary"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/petrigate/petrigate/gate"
)

// brute plays every sequence of calls and outcomes with the gate's own
// decisions. It knows nothing of how package verify thinks.
type brute struct {
	policy *gate.Policy
	calls  []gate.Call
	names  [][]gate.Name

	sampled bool                // there are more calls
	results []string            // by call: what it returns where it succeeds; nil: nothing
	fresh   func(call int) bool // a claim about all states is asked of those that these calls lead to; nil: all
	about   func(call int) bool // calls that names of claims are about; nil: all
	ends    [][]int             // by state: where the end of a call leads

	states  []*bruteState
	index   map[string]int
	steps   [][]int // by state: where one more event leads
	happy   [][]int // by state: where one more success leads
	closed  bool    // every state is there
	begins  [][]int // by state and call: where it leads, -1
	admits  [][]bool
	manuals [][]bool
	nets    [][][]gate.Verdict // by state and call: what had a say in it
}

type bruteState struct {
	s    *gate.State
	mon  int
	open map[uint64]int // admitted calls that a net waits for: their kind
}

const (
	bruteStates = 300
	bruteAlike  = 2 // calls in flight that hold the same
)

// newBrute plays calls of a policy. Where the clock moves it, calls do.
func newBrute(p *gate.Policy) *brute {
	nets, ticks := clockless(p.Nets())
	if len(ticks) == 0 {
		return &brute{policy: p}
	}
	played, err := gate.NewPolicy(nets, p.Options())
	if err != nil {
		panic(err) // the policy with a clock is one
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

// A begun call was admitted and is in flight.
type begun struct {
	state  *gate.State // after it
	number uint64
	manual bool           // people were asked
	steps  []gate.Step    // what they were asked
	nets   []gate.Verdict // what the nets said that have a say in it
}

// begin decides a call; people agree.
func begin(p *gate.Policy, s *gate.State, c gate.Call) (begun, bool) {
	d, delta := p.Decide(s, c, nil)
	next, manual := s, false
	var steps []gate.Step
	if ask, isAsk := d.(*gate.Ask); isAsk {
		next = cloneState(next)
		next.Apply(delta)
		d, delta = p.Decide(next, c, ask.Grant())
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

// states yields the state of the net, and those of the values of its key.
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

// waits lists, for each call, what nets hold of it.
func waits(s *gate.State) map[uint64]string {
	out := make(map[uint64]string)
	for i, base := range s.Nets {
		values := append([]string{""}, valuesOf(base)...)
		for k, n := range statesOf(base) {
			at := strconv.Itoa(i) + values[k]
			for _, f := range n.Flights {
				out[f.Call] += at + ":f" + strconv.Itoa(f.Transition) + " "
			}
			for _, w := range n.Watches {
				out[w.Call] += at + ":w" + strconv.Itoa(w.Transition) + " "
			}
			for _, f := range n.Spoilers() {
				out[f.Call] += at + ":s" + strconv.Itoa(f.Transition) + " "
			}
			for _, f := range n.Lapsed() {
				out[f.Call] += at + ":l" + strconv.Itoa(f.Transition) + " "
			}
		}
	}
	return out
}

func (b *bruteState) key() string {
	k := []byte{byte(b.mon)}
	for _, base := range b.s.Nets {
		k = append(k, strings.Join(valuesOf(base), " ")...)
		k = append(k, rowOf(base)...)
		for _, n := range statesOf(base) {
			for _, tokens := range n.Marking {
				k = binary.AppendUvarint(k, uint64(tokens))
			}
			if n.Stuck {
				k = append(k, '!')
			}
		}
	}
	holds := waits(b.s)
	var open []string
	for number, kind := range b.open {
		if h := holds[number]; h != "" {
			open = append(open, h+strconv.Itoa(kind))
		}
	}
	slices.Sort(open)
	return string(k) + strings.Join(open, "|")
}

// rowOf is what a net knows of equal calls in a row, and of sums.
func rowOf(n *gate.NetData) string {
	var text strings.Builder
	for _, d := range statesOf(n) {
		text.WriteString(d.Row())
		if d.Spent != nil {
			text.WriteString(d.Spent.Amount.String())
		}
	}
	return text.String()
}

func (b *bruteState) alike() int {
	holds := waits(b.s)
	count := make(map[string]int)
	most := 0
	for _, h := range holds {
		count[h]++
		most = max(most, count[h])
	}
	return most
}

func (b *brute) has(call int, name gate.Tool, evidence bool) bool {
	return (b.about == nil || b.about(call)) && carried(b.calls[call], b.names[call], name, evidence)
}

// explore visits what can be reached. The monitor of never-before goes along:
// it says whether a call of first has succeeded since the last of tool.
func (b *brute) explore(tool, first gate.Tool) {
	b.index = make(map[string]int)
	b.closed = !b.sampled
	b.add(&bruteState{s: b.policy.NewState(nil), open: map[uint64]int{}})
	for k := 0; k < len(b.states); k++ {
		st := b.states[k]
		b.admits = append(b.admits, make([]bool, len(b.calls)))
		b.manuals = append(b.manuals, make([]bool, len(b.calls)))
		b.nets = append(b.nets, make([][]gate.Verdict, len(b.calls)))
		b.begins = append(b.begins, slices.Repeat([]int{-1}, len(b.calls)))
		b.steps = append(b.steps, nil)
		b.happy = append(b.happy, nil)
		b.ends = append(b.ends, nil)
		for c, call := range b.calls {
			now, ok := begin(b.policy, st.s, call)
			if !ok {
				continue
			}
			b.admits[k][c], b.manuals[k][c], b.nets[k][c] = true, now.manual, now.nets
			n := &bruteState{s: now.state, mon: st.mon, open: maps.Clone(st.open)}
			if b.has(c, tool, false) {
				n.mon = 0
			}
			if isTick(call) {
				b.step(k, n)
				b.happyStep(k, n)
				b.begins[k][c] = b.steps[k][len(b.steps[k])-1]
				continue
			}
			n.open[now.number] = c
			if n.alike() <= bruteAlike {
				b.step(k, n)
				b.begins[k][c] = b.steps[k][len(b.steps[k])-1]
			}
			b.happyStep(k, b.ended(n, now.number, gate.Success, first))
		}
		for number := range st.open {
			if waits(st.s)[number] == "" {
				continue
			}
			for _, o := range []gate.Outcome{gate.Success, gate.Failure, gate.Unknown} {
				n := b.ended(st, number, o, first)
				b.step(k, n)
				b.ends[k] = append(b.ends[k], b.steps[k][len(b.steps[k])-1])
				if o == gate.Success {
					b.happyStep(k, n)
				}
			}
		}
		if len(b.states) > bruteStates {
			b.closed = false
			return
		}
	}
}

func (b *brute) ended(st *bruteState, number uint64, o gate.Outcome, first gate.Tool) *bruteState {
	result := ""
	if b.results != nil {
		result = b.results[st.open[number]]
	}
	n := &bruteState{s: settleWith(b.policy, st.s, number, o, result), mon: st.mon, open: maps.Clone(st.open)}
	if o == gate.Success && b.has(st.open[number], first, true) {
		n.mon = 1
	}
	if o != gate.Unknown {
		delete(n.open, number)
	}
	return n
}

func (b *brute) step(k int, n *bruteState) { b.steps[k] = append(b.steps[k], b.add(n)) }

func (b *brute) happyStep(k int, n *bruteState) { b.happy[k] = append(b.happy[k], b.add(n)) }

func (b *brute) add(n *bruteState) int {
	holds := waits(n.s)
	for number := range n.open {
		if holds[number] == "" {
			delete(n.open, number)
		}
	}
	key := n.key()
	if k, ok := b.index[key]; ok {
		return k
	}
	b.index[key] = len(b.states)
	b.states = append(b.states, n)
	return len(b.states) - 1
}

// depth is the length of the shortest sequential successful run whose last
// call has the name; 0 where there is none, closed where all was looked at.
func (b *brute) depth(name gate.Tool) (length int, closed bool) {
	seen := map[string]bool{}
	layer := []*bruteState{{s: b.policy.NewState(nil), open: map[uint64]int{}}}
	for length := 1; len(layer) > 0; length++ {
		var next []*bruteState
		for i := 0; i < len(layer); i++ {
			st := layer[i]
			for c, call := range b.calls {
				now, ok := begin(b.policy, st.s, call)
				if !ok {
					continue
				}
				if b.has(c, name, false) {
					return length, !b.sampled
				}
				result := ""
				if b.results != nil {
					result = b.results[c]
				}
				n := &bruteState{s: settleWith(b.policy, now.state, now.number, gate.Success, result), open: map[uint64]int{}}
				k := n.key()
				switch {
				case seen[k]:
				case isTick(call): // time is no call
					layer = append(layer, n)
				default:
					next = append(next, n)
				}
				seen[k] = true
			}
		}
		if len(seen) > bruteStates {
			return 0, false
		}
		layer = next
	}
	return 0, !b.sampled
}

// A want is what a run is to reach: an admitted call, with what the nets said
// to it, or a state that excuses it.
type want struct {
	call    func(call int, nets []gate.Verdict) bool
	excused func(*gate.State) bool // nil: none
}

// admitted reports whether some state admits a call that ok likes.
func (b *brute) admitted(ok func(state, call int) bool) bool {
	for k := range b.admits {
		for c, yes := range b.admits[k] {
			if yes && ok(k, c) {
				return true
			}
		}
	}
	return false
}

// always reports whether from every state a successful continuation reaches
// what is wanted.
func (b *brute) always(w want) bool {
	good := make([]bool, len(b.states))
	for k, s := range b.states {
		good[k] = w.excused != nil && w.excused(s.s)
	}
	for again := true; again; {
		again = false
		for k := range b.admits {
			if good[k] {
				continue
			}
			for c, yes := range b.admits[k] {
				good[k] = good[k] || yes && !isTick(b.calls[c]) && w.call(c, b.nets[k][c])
			}
			for _, to := range b.happy[k] {
				good[k] = good[k] || good[to]
			}
			again = again || good[k]
		}
	}
	if b.fresh == nil {
		return !slices.Contains(good[:len(b.admits)], false)
	}
	seen := make([]bool, len(b.states))
	seen[0] = true
	for queue := []int{0}; len(queue) > 0; queue = queue[1:] {
		k := queue[0]
		if k < len(b.admits) && !good[k] {
			return false
		}
		if k >= len(b.admits) {
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
	return true
}

// goesOn reports whether a successful continuation reaches what is wanted.
func (b *brute) goesOn(s *gate.State, w want) bool {
	open := map[uint64]int{}
	for number := range waits(s) {
		open[number] = 0
	}
	b.index = map[string]int{}
	b.add(&bruteState{s: s, open: open})
	for k := 0; k < len(b.states) && k < bruteStates; k++ {
		st := b.states[k]
		if w.excused != nil && w.excused(st.s) {
			return true
		}
		for c, call := range b.calls {
			now, ok := begin(b.policy, st.s, call)
			if !ok {
				continue
			}
			if !isTick(call) && w.call(c, now.nets) {
				return true
			}
			n := &bruteState{s: now.state, open: map[uint64]int{}}
			for o, kind := range st.open {
				n.open[o] = kind
			}
			n.open[now.number] = c
			b.add(b.ended(n, now.number, gate.Success, gate.Tool{}))
		}
		for number := range st.open {
			b.add(b.ended(st, number, gate.Success, gate.Tool{}))
		}
	}
	return false
}

// most is the largest number of calls with the name in one run, up to limit.
func (b *brute) most(name gate.Tool, limit int) int {
	best := make([]int, len(b.states))
	for i := range best {
		best[i] = -1
	}
	best[0] = 0
	most := 0
	for again := true; again; {
		again = false
		for k := range b.admits {
			if best[k] < 0 {
				continue
			}
			for c, yes := range b.admits[k] {
				if !yes {
					continue
				}
				count := best[k]
				if b.has(c, name, false) {
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
