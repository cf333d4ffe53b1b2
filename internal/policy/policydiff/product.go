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

// search visits the states breadth first. missing holds the omitted shared nets that are needed to
// confirm a difference.
func (p *product) search(limit int, stop func() bool) (missing []int) {
	first := node{from: -1, now: time.Unix(0, 0)}
	for i, policy := range p.policies {
		first.states[i] = policy.NewState(nil)
	}
	p.visit(first)
	for k := 0; k < len(p.nodes); k++ {
		if len(p.nodes) > limit || stop() {
			p.cut = true
			return nil
		}
		for _, c := range p.calls {
			if missing := p.begin(k, c); missing != nil {
				return missing
			}
		}
		p.endAll(k)
		if p.loose {
			if missing := p.expandLoose(k); missing != nil {
				return missing
			}
		} else {
			for _, d := range p.waits {
				p.wait(k, d)
			}
		}
		if (p.Stricter != nil || p.none[0] || p.loose && p.unreal[0]) && (p.Looser != nil || p.none[1] || p.loose && p.unreal[1]) {
			return nil
		}
	}
	return nil
}

// unsettled reports whether a difference was found in a direction that has no witness.
func (p *product) unsettled() bool {
	return p.unreal[0] && p.Stricter == nil || p.unreal[1] && p.Looser == nil
}

// begin makes a call in both policies.
func (p *product) begin(k int, c possible) (missing []int) {
	n := p.nodes[k].clone()
	n.from, n.began, n.repeat = k, n.began+1, repeat{}
	n.by = verify.Step{Call: n.began, Tool: c.Tool, Names: c.named, Args: c.Args, Name: c.Name}
	f := openCall{step: n.by}
	var verdicts [2]permission
	for i, policy := range p.policies {
		call := c.on(i)
		call.Time = n.now
		verdicts[i], f.numbers[i], _ = decide(policy, n.states[i], call)
	}
	if found := p.direction(verdicts); found != nil && *found == nil {
		w, missing := p.confirm(p.path(k, n.by), verdicts)
		if missing != nil {
			return missing
		}
		if p.loose {
			w = nil // the call might not be possible
		}
		if *found = w; w == nil {
			p.unreal[0] = p.unreal[0] || found == &p.Stricter
			p.unreal[1] = p.unreal[1] || found == &p.Looser
		}
	}
	if max(verdicts[0], verdicts[1]) == refusedCall {
		return nil
	}
	n.open = append(n.open, f)
	p.prune(&n)
	p.visit(n)
	return nil
}

// endAll ends each open call of a node, one of each set of equal calls. If the set stands for any
// number, a success may also leave as many.
func (p *product) endAll(k int) {
	alike := make(map[string]int)
	for _, f := range p.nodes[k].open {
		alike[p.nodes[k].holds(f)]++
	}
	done := make(map[string]bool)
	for i, f := range p.nodes[k].open {
		holds := p.nodes[k].holds(f)
		if done[holds] {
			continue
		}
		done[holds] = true
		for _, o := range []gate.Outcome{gate.Success, gate.Failure, gate.Unknown} {
			p.end(k, i, o, false)
		}
		if alike[holds] >= p.alike && p.nodes[k].watches(f) {
			p.end(k, i, gate.Success, true)
		}
	}
}

// direction returns the field for the witness of a difference; nil if the verdicts are equal.
func (d *Comparison) direction(verdicts [2]permission) **Witness {
	switch {
	case verdicts[1] > verdicts[0]:
		return &d.Stricter
	case verdicts[1] < verdicts[0]:
		return &d.Looser
	}
	return nil
}

// end ends an open call. If again is set, the call was made once more before.
func (p *product) end(k, open int, o gate.Outcome, again bool) {
	n := p.nodes[k].clone()
	f := n.open[open]
	n.from, n.repeat = k, repeat{}
	n.by = verify.Step{Call: f.step.Call, Ends: true, Outcome: o}
	if again {
		n.began++
		n.repeat = repeat{f.step.Call, n.began}
		n.open = append(n.open, n.copyOf(f, n.began))
	}
	for i, policy := range p.policies {
		n.states[i].Apply(policy.SettleAt(n.states[i], f.numbers[i], o, n.now))
	}
	p.prune(&n)
	p.visit(n)
}

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

// confirm replays a run under the whole policies, by the clock. It returns no witness if the run is
// not possible, or if omitted shared nets change a decision: these are missing.
func (p *product) confirm(t verify.Trace, found [2]permission) (w *Witness, missing []int) {
	whole := [2]*gate.Policy{p.sides[0].whole, p.sides[1].whole}
	if p.loose {
		whole = p.whole
	}
	states := [2]*gate.State{whole[0].NewState(nil), whole[1].NewState(nil)}
	numbers := make(map[int][2]uint64)
	now := time.Unix(0, 0)
	var verdicts [2]permission
	for k, step := range t {
		switch {
		case step.Wait > 0 && p.loose:
			p.ticks[step.Times].pass(whole, states)
			continue
		case step.Wait > 0:
			now = now.Add(step.Wait)
			continue
		case step.Ends:
			for i, policy := range whole {
				states[i].Apply(policy.SettleAt(states[i], numbers[step.Call][i], step.Outcome, now))
			}
			continue
		}
		var by [2][]string
		var given [2]uint64
		c := p.callOf(step)
		for i, policy := range whole {
			call := c.on(i)
			call.Time = now
			verdicts[i], given[i], by[i] = decide(policy, states[i], call)
		}
		numbers[step.Call] = given
		if missing := p.needed(by); missing != nil {
			return nil, missing
		}
		if k < len(t)-1 && max(verdicts[0], verdicts[1]) == refusedCall {
			return nil, nil
		}
	}
	if p.direction(verdicts) != p.direction(found) {
		return nil, nil
	}
	return &Witness{trace: t, verdicts: verdicts}, nil
}

func (d *Comparison) callOf(step verify.Step) possible {
	is := func(c possible) bool { return c.Tool == step.Tool && c.Args == step.Args && c.named == step.Names }
	if i := slices.IndexFunc(d.calls, is); i >= 0 {
		return d.calls[i]
	}
	return d.maybe[slices.IndexFunc(d.maybe, is)]
}

// decide makes a call in a state, granting requested approvals. by names the nets that refuse or
// ask.
func decide(p *gate.Policy, s *gate.State, call gate.Call) (verdict permission, number uint64, by []string) {
	decision, delta := p.Decide(s, call, nil)
	s.Apply(delta)
	if ask, ok := decision.(*gate.Ask); ok {
		verdict = asked(ask.Approvals())
		for _, step := range ask.Steps {
			by = append(by, step.Net)
		}
		decision, delta = p.Decide(s, call, ask.Grant())
		s.Apply(delta)
	}
	switch d := decision.(type) {
	case *gate.Allow:
		return verdict, d.Ticket.Number, by
	case *gate.Refusal:
		for _, b := range d.Blocks {
			by = append(by, b.Net)
		}
	}
	return refusedCall, 0, by
}
