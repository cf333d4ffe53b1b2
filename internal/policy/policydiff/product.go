package policydiff

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify"
)

// A product plays the same calls under two policies: calls begin, other calls begin before they
// end, and they end with success, failure or an unknown outcome.
//
// Any number of calls that only watch can be in flight, so a bounded number of equal ones stands
// for any number. The search thus over-approximates: a difference counts only if concrete calls
// show it.
type product struct {
	*Comparison
	calls    []possible // calls of the comparison that the policies of this product distinguish
	maybe    []possible
	policies [2]*gate.Policy
	waits    []time.Duration
	loose    bool            // includes calls that might not exist, and ignores the distances between ticks
	ticks    []tick          // of a loose search
	whole    [2]*gate.Policy // of a loose search: the policies with all nets, without a clock
	nodes    []node
	seen     map[string]bool
	cut      bool    // more states exist than were visited
	unreal   [2]bool // whether a difference was found that no concrete calls show: stricter, looser
}

// A node is a pair of states, and the step that reached it.
type node struct {
	states [2]*gate.State
	open   []openCall
	now    time.Time // for nets that keep their clock
	began  int       // number of calls so far
	from   int       // index of the predecessor
	repeat repeat
	by     verify.Step
}

// A repeat is a call that is made again right after the first one: one of many equal calls.
type repeat struct{ first, again int }

// An openCall is a call in flight that one of the states remembers.
type openCall struct {
	step    verify.Step // the step that began the call
	numbers [2]uint64
}

// manyAlike equal calls that only watch stand for any number of them. If that leads to a difference
// that no concrete calls show, the search is repeated with a larger number, up to mostAlike: often
// something else bounds their number.
const (
	manyAlike = 3
	mostAlike = 24
)

// prune drops the calls whose ends have no effect, and surplus equal calls that only watch, as if
// these had failed.
func (p *product) prune(n *node) {
	alike := make(map[string]int)
	n.open = slices.DeleteFunc(n.open, func(f openCall) bool {
		holds := n.holds(f)
		if alike[holds]++; holds == "" || alike[holds] <= p.alike || !n.watches(f) {
			return holds == ""
		}
		for i, policy := range p.policies {
			n.states[i].Apply(policy.SettleAt(n.states[i], f.numbers[i], gate.Failure, n.now))
		}
		return true
	})
}

func (p *product) visit(n node) {
	if key := n.key(); !p.seen[key] {
		p.seen[key] = true
		p.nodes = append(p.nodes, n)
	}
}

// clone returns a copy whose states can be changed.
func (n node) clone() node {
	for i, s := range n.states {
		n.states[i] = s.Clone()
	}
	n.open = slices.Clone(n.open)
	return n
}

// key returns a text that identifies the pair of states.
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
	var flights []string
	for _, f := range n.open {
		flights = append(flights, n.holds(f))
	}
	slices.Sort(flights)
	return b.String() + strings.Join(flights, "|")
}

// holds returns what the states remember of a call; empty: nothing.
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

// remembered appends what the state of a net, or of a value in it, remembers of a call.
func remembered(b *strings.Builder, data *gate.NetData, call uint64, where string) {
	for kind, flights := range [][]gate.Flight{data.Flights, data.Watches, data.Spoilers(), data.Lapsed()} {
		for _, one := range flights {
			if one.Call == call {
				fmt.Fprintf(b, "%s.%d.%d ", where, kind, one.Transition)
			}
		}
	}
}

// A valueData is the state of a net with a key for a value.
type valueData struct {
	text string
	data *gate.NetData
}

// valuesOf returns the values that a net with a key keeps, in order.
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

// watches reports whether no tokens are in flight for the call, and no value of a key waits for it.
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

// copyOf adds a call with the same watches and spoilers as f.
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

// withCopies duplicates the flights of the call for another call.
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

// path returns the run to a node, and a final step. A repeated call follows directly after the
// first one.
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

// judges reports whether one of the explored nets judges arguments.
func (p *product) judges() bool {
	is := func(n gate.NetInfo) bool { return n.Validate != nil }
	return slices.ContainsFunc(p.policies[:], func(policy *gate.Policy) bool { return slices.ContainsFunc(policy.Nets(), is) })
}

// hasData reports whether an explored net keeps separate counts for different argument values.
func (p *product) hasData() bool {
	return slices.ContainsFunc(p.policies[:], func(policy *gate.Policy) bool { return slices.ContainsFunc(policy.Nets(), readsData) })
}
