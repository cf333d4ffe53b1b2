package policydiff

import (
	"slices"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify"
)

// search looks for sequences of calls that show a difference between the policies. It stores the
// first confirmed sequence of each kind in p.Stricter or p.Looser. A loose search only sets
// p.unreal. States are visited in breadth-first order until the limit is exceeded. If a difference
// depends on nets that both policies have and the model omits, search stops and returns their
// indexes.
func (p *product) search(limit int) (missing []int) {
	first := node{from: -1, now: time.Unix(0, 0)}
	for i, policy := range p.policies {
		first.states[i] = policy.NewState(nil)
	}
	p.visit(first)
	for k := 0; k < len(p.nodes); k++ {
		if len(p.nodes) > limit || p.stop() {
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

// begin makes a call under both policies in node k, and compares their decisions.
func (p *product) begin(k int, c possibleCall) (missing []int) {
	n := p.nodes[k].clone()
	n.from, n.began, n.repeat = k, n.began+1, repeat{}
	n.by = verify.Step{Call: n.began, Tool: c.Tool, Names: c.named, Args: c.Args, Name: c.Name}
	verdicts, numbers, _ := c.decide(p.policies, n.states, n.now)
	if found := p.direction(verdicts); found != nil && *found == nil {
		w, missing := p.confirm(p.path(k, n.by), verdicts)
		if missing != nil {
			return missing
		}
		if p.loose {
			w = nil // the call might be impossible
		}
		if *found = w; w == nil {
			p.unreal[0] = p.unreal[0] || found == &p.Stricter
			p.unreal[1] = p.unreal[1] || found == &p.Looser
		}
	}
	if max(verdicts[0], verdicts[1]) == refusedCall {
		return nil
	}
	n.open = append(n.open, openCall{n.by, numbers})
	p.visit(n)
	return nil
}

// endAll ends each open call of node k with each outcome. If several calls are identical, it ends
// only one of them. If they stand for any larger number of calls, endAll also lets one call succeed
// without reducing their number.
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

// end ends an open call of node k with outcome o. If again is true, it first adds an identical
// call, which stays open.
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
	settle(p.policies, n.states, f.numbers, o, n.now)
	p.visit(n)
}

// wait lets the duration d pass under both policies. Each timed transition fires once per full
// interval, while it is enabled. This is only an approximation; [product.confirm] uses the gate's
// own clock.
func (p *product) wait(k int, d time.Duration) {
	n := p.nodes[k].clone()
	n.from, n.began, n.repeat = k, n.began+1, repeat{}
	n.by = verify.Step{Call: n.began, Wait: d}
	n.now = n.now.Add(d)
	for i, policy := range p.policies {
		n.states[i].Apply(policy.Tick(n.states[i], n.now))
		for _, t := range tickings(policy) {
			for range d / t.every {
				if !fire(policy, n.states[i], t.tool) {
					break
				}
			}
		}
	}
	p.visit(n)
}

// expandLoose continues node k in a loose search: it makes the calls that might be impossible, and
// fires timed transitions.
func (p *product) expandLoose(k int) (missing []int) {
	for _, c := range p.maybe {
		if missing := p.begin(k, c); missing != nil {
			return missing
		}
	}
	for i, t := range p.ticks {
		n := p.nodes[k].clone()
		n.from, n.began, n.repeat = k, n.began+1, repeat{}
		n.by = verify.Step{Call: n.began, Wait: 1, Times: i}
		t.pass(p.policies, n.states)
		p.visit(n)
	}
	return nil
}

// confirm replays the steps t under the complete policies. If omitted shared nets refuse a call or
// require approval, confirm stops and returns the indexes of these nets. If the last call shows the
// same kind of difference, confirm returns a witness. Otherwise, both results are nil.
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
			settle(whole, states, numbers[step.Call], step.Outcome, now)
			continue
		}
		var by [2][]string
		c := p.callOf(step)
		verdicts, numbers[step.Call], by = c.decide(whole, states, now)
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

func (d *Comparison) callOf(step verify.Step) possibleCall {
	is := func(c possibleCall) bool { return c.Tool == step.Tool && c.Args == step.Args && c.named == step.Names }
	if i := slices.IndexFunc(d.calls, is); i >= 0 {
		return d.calls[i]
	}
	return d.maybe[slices.IndexFunc(d.maybe, is)]
}

// needed returns the indexes of the omitted shared nets that refuse a call or require approval. The
// argument contains the names of all such nets of each policy.
func (d *Comparison) needed(by [2][]string) []int {
	var out []int
	for i, t := range d.shared {
		if !d.kept[i] && (slices.Contains(by[0], t[0]) || slices.Contains(by[1], t[1])) {
			out = append(out, i)
		}
	}
	return out
}

// unsettled reports whether the search found a difference that no concrete calls show, and no
// witness of the same kind is known.
func (p *product) unsettled() bool {
	return p.unreal[0] && p.Stricter == nil || p.unreal[1] && p.Looser == nil
}

// doubt returns the reason why a difference found by a loose search might not be real.
func (p *product) doubt() string {
	switch {
	case len(p.ticks) > 0:
		return "calls were compared only at certain times"
	case len(p.maybe) > 0:
		return someTogether
	}
	return "both policies decide by argument values, and only a few values were tried"
}
