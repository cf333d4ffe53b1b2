package policydiff

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy/verify"
)

// A product explores the same calls under two policies. In each step, a call begins, an earlier
// call ends with success, failure or an unknown outcome, or time passes.
//
// If there are many identical calls in flight that hold no tokens, the product keeps only a few.
// These stand for any larger number of calls. The product may therefore find differences that do
// not exist, so each difference is confirmed with concrete calls.
type product struct {
	*Comparison
	calls    []possibleCall // calls of the comparison that the policies of this product distinguish
	maybe    []possibleCall
	policies [2]*gate.Policy
	waits    []time.Duration
	loose    bool            // whether the search includes calls that might be impossible and ignores the intervals of timed transitions
	ticks    []tick          // timed transitions; set only in a loose search
	whole    [2]*gate.Policy // policies that include the shared nets, to confirm a difference; set only in a loose search
	nodes    []node
	seen     map[string]bool
	cut      bool    // whether the search was cut off before it visited all states
	unreal   [2]bool // whether the search found a difference that no concrete calls show: index 0 for stricter, 1 for looser
}

// A node is a pair of states, one for each policy, together with the step that led to it.
type node struct {
	states [2]*gate.State
	open   []openCall
	now    time.Time // the current time, for nets that keep their timed transitions
	began  int       // number of calls made so far
	from   int       // index of the preceding node; -1 for the first node
	repeat repeat
	by     verify.Step
}

// A repeat contains the number of a call, and the number of an identical call to insert directly
// after it.
type repeat struct{ first, again int }

// An openCall is a call in flight that at least one of the states records.
type openCall struct {
	step    verify.Step // the step that began the call
	numbers [2]uint64
}

// The search keeps at most manyAlike identical calls that hold no tokens. They represent any larger
// number of such calls. If this leads to a difference that no concrete calls show, the search is
// repeated with a larger limit, up to mostAlike.
const (
	manyAlike = 3
	mostAlike = 24
)

// prune removes calls whose ends have no effect. If there are too many identical calls that hold no
// tokens, it also ends the surplus ones with failure.
func (p *product) prune(n *node) {
	alike := make(map[string]int)
	n.open = slices.DeleteFunc(n.open, func(f openCall) bool {
		holds := n.holds(f)
		if alike[holds]++; holds == "" || alike[holds] <= p.alike || !n.watches(f) {
			return holds == ""
		}
		settle(p.policies, n.states, f.numbers, gate.Failure, n.now)
		return true
	})
}

// visit prunes node n, and adds it to the product unless its states were already visited.
func (p *product) visit(n node) {
	p.prune(&n)
	if key := n.key(); !p.seen[key] {
		p.seen[key] = true
		p.nodes = append(p.nodes, n)
	}
}

// clone returns a copy of n whose states can be modified.
func (n node) clone() node {
	for i, s := range n.states {
		n.states[i] = s.Clone()
	}
	n.open = slices.Clone(n.open)
	return n
}

// key returns a string that is the same for nodes with equal states.
func (n node) key() string {
	var b strings.Builder
	for _, s := range n.states {
		for _, net := range s.Nets {
			fmt.Fprint(&b, net.Marking, net.Stuck, net.Row())
			if net.Spent != nil {
				fmt.Fprint(&b, net.Spent.Amount)
			}
			for _, v := range valuesOf(net) {
				fmt.Fprintf(&b, "%q", v.text)
				fmt.Fprint(&b, v.data.Marking, v.data.Stuck)
			}
		}
	}
	flights := list.Map(n.open, n.holds)
	slices.Sort(flights)
	return b.String() + strings.Join(flights, "|")
}

// holds returns a string that describes what the states record about call f, or "" if they record
// nothing.
func (n node) holds(f openCall) string {
	var b strings.Builder
	for i, s := range n.states {
		for k, net := range s.Nets {
			remembered(&b, net, f.numbers[i], fmt.Sprintf("%d.%d", i, k))
			for _, v := range valuesOf(net) {
				remembered(&b, v.data, f.numbers[i], fmt.Sprintf("%d.%d.%q", i, k, v.text))
			}
		}
	}
	return b.String()
}

// remembered appends an entry to b for each record of the given call in the state of a net. Each
// entry begins with the given prefix, which identifies the state.
func remembered(b *strings.Builder, data *gate.NetData, call uint64, where string) {
	for kind, flights := range [][]gate.Flight{data.Flights, data.Watches, data.Spoilers(), data.Lapsed()} {
		for _, one := range flights {
			if one.Call == call {
				fmt.Fprintf(b, "%s.%d.%d ", where, kind, one.Transition)
			}
		}
	}
}

// A valueData is the state that a net with a key has for a single value of the key.
type valueData struct {
	text string
	data *gate.NetData
}

// valuesOf returns the states for all values of a net's key, sorted by value.
func valuesOf(net *gate.NetData) []valueData {
	if net.Values.Len() == 0 {
		return nil
	}
	var all []valueData
	for text, data := range net.Values.All() {
		all = append(all, valueData{text, data})
	}
	slices.SortFunc(all, func(a, b valueData) int { return strings.Compare(a.text, b.text) })
	return all
}

// watches reports whether the end of call f matters only for rules that require successful calls.
func (n node) watches(f openCall) bool {
	for i, s := range n.states {
		is := func(one gate.Flight) bool { return one.Call == f.numbers[i] }
		waits := func(v valueData) bool {
			return slices.ContainsFunc(slices.Concat(v.data.Flights, v.data.Watches, v.data.Spoilers(), v.data.Lapsed()), is)
		}
		for _, net := range s.Nets {
			if slices.ContainsFunc(net.Flights, is) || slices.ContainsFunc(valuesOf(net), waits) {
				return false
			}
		}
	}
	return true
}

// copyOf adds a copy of the open call f to both states and returns the copy. The end of the copy
// has the same effect on rules that require successful calls as the end of f. call is the number of
// the copy in the sequence of calls.
func (n node) copyOf(f openCall, call int) openCall {
	again := openCall{step: f.step}
	again.step.Call = call
	for i, s := range n.states {
		s.Last++
		again.numbers[i] = s.Last
		if open := s.Calls[f.numbers[i]]; open != nil {
			c := *open
			c.Number = s.Last
			s.Calls[s.Last] = &c
		}
		for k, net := range s.Nets {
			data := *net
			data.Watches = withCopies(net.Watches, f.numbers[i], s.Last)
			if net.Extras != nil {
				apart := *net.Extras
				apart.Spoilers = withCopies(apart.Spoilers, f.numbers[i], s.Last)
				data.Extras = &apart
			}
			s.Nets[k] = &data
		}
	}
	return again
}

// withCopies returns the given flights with copies added. A flight is a transition that waits for a
// call to end. For each flight of the first call, the result also contains an equal flight of the
// second call.
func withCopies(flights []gate.Flight, call, other uint64) []gate.Flight {
	out := slices.Clip(flights)
	for _, one := range flights {
		if one.Call == call {
			one.Call = other
			out = append(out, one)
		}
	}
	return out
}

// path returns the sequence of steps that leads to node k, followed by the given last step. It
// inserts each repeated call directly after the call that it repeats.
func (p *product) path(k int, last verify.Step) verify.Trace {
	t := verify.Trace{last}
	var repeats []repeat
	for ; p.nodes[k].from >= 0; k = p.nodes[k].from {
		t = append(t, p.nodes[k].by)
		if d := p.nodes[k].repeat; d.again > 0 {
			repeats = append(repeats, d)
		}
	}
	slices.Reverse(t)
	slices.Reverse(repeats)
	for _, d := range repeats {
		at := slices.IndexFunc(t, func(s verify.Step) bool { return s.Call == d.first && !s.Ends })
		s := t[at]
		s.Call = d.again
		t = slices.Insert(t, at+1, s)
	}
	return t
}

// judges reports whether any of the explored nets checks the arguments of calls with a
// [gate.Net].Validate function.
func (p *product) judges() bool {
	is := func(n gate.NetInfo) bool { return n.Validate != nil }
	return slices.ContainsFunc(p.policies[:], func(policy *gate.Policy) bool { return slices.ContainsFunc(policy.Nets(), is) })
}

// hasData reports whether the state of any explored net depends on the arguments of calls.
func (p *product) hasData() bool {
	return slices.ContainsFunc(p.policies[:], func(policy *gate.Policy) bool { return slices.ContainsFunc(policy.Nets(), readsData) })
}
