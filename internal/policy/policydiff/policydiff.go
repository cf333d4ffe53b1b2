package policydiff

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"slices"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/internal/policy/verify"
)

// Compare compares two policies. It visits at most the given number of states and ends early when
// stop returns true.
func Compare(from, to *Side, states int, stop func() bool) (*Comparison, error) {
	if err := errors.Join(from.emptyIfShadow(to), to.emptyIfShadow(from)); err != nil {
		return nil, err
	}
	over, asked := false, stop
	stop = func() bool { // once stop has returned true, it always returns true
		over = over || asked()
		return over
	}
	d := newComparison(from, to, stop)
	d.compareRepeated()
	if !d.settled() {
		if err := d.explore(states); err != nil {
			return d, err
		}
	}
	switch why := d.crossSessionNet(); {
	case d.settled():
		d.Complete, d.why = true, ""
	case why != "" && d.Complete:
		d.partly(why)
	}
	if d.Stricter == nil || d.Looser == nil {
		d.conditions()
	}
	return d, nil
}

// maxStates is the maximum number of states that [CompareResults] visits.
const maxStates = 20_000

// CompareResults compares two policies that were built from the given sources. It ends early when
// it has used the given processor time or when ctx is done.
func CompareResults(ctx context.Context, from *policy.Result, fromSource policy.Source, to *policy.Result, toSource policy.Source, most time.Duration) (*Comparison, error) {
	was, err := NewSide(from, fromSource)
	if err != nil {
		return nil, err
	}
	is, err := NewSide(to, toSource)
	if err != nil {
		return nil, err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	spent := check.WorkClock()
	return Compare(was, is, maxStates, func() bool { return ctx.Err() != nil || spent() > most })
}

func newComparison(from, to *Side, stop func() bool) *Comparison {
	single := unsharedMaps(from, to)
	d := &Comparison{sides: [2]*Side{from, to}, stop: stop, Complete: true, alike: manyAlike, shared: sharedNets(from, to, single)}
	d.pairs, d.kept = d.shared, make([]bool, len(d.shared))
	d.sums, d.none = d.sumPairs(single), d.excluded(single)
	if why := doubted(from, to, single); why != "" {
		d.partly(why)
	}
	if len(d.shared) == len(from.nets) && len(d.shared) == len(to.nets) && from.deny == to.deny {
		return d // both policies have the same nets and the same default decision
	}
	if from.yields() || to.yields() {
		d.partly("advisory nets yield where they would leave no tool, and the comparison ignores which tools exist")
	}
	if from.deny || to.deny { // if calls are denied by default, nets can admit calls, so the search needs all nets
		d.shared = nil
	}
	calls, why := d.representatives(single)
	d.calls = list.Map(calls, func(c representative) possibleCall { return possibleCall{representative: c} })
	if d.calls, d.maybe = d.distinct(d.calls, nil), d.distinct(d.maybe, nil); why != "" {
		d.partly(why)
	}
	if stop() {
		d.partly(verify.WhyTime)
		return d
	}
	if why := d.notCompared(); why != "" {
		d.partly(why)
	}
	return d
}

// explore searches for differences. It ends when there are no more differences, when a witness of
// each kind was found, or when a limit is reached.
func (d *Comparison) explore(limit int) error {
	p, err := d.find(limit, false)
	if err == nil && p.cut && !p.hasData() {
		d.partly(d.cutBy())
	}
	switch {
	case err != nil || !d.Complete || d.settled():
		return err
	case p.unsettled() && !p.cut:
		d.partly("the policies differ when more calls are in flight at once, but no example was found")
		return nil
	case len(p.waits) == 0 && len(d.maybe) == 0 && !p.hasData() && !p.judges():
		return nil
	}
	if len(d.sums) > 0 && (d.sums[0][0].Sum.Most > d.sums[0][1].Sum.Most && d.Stricter == nil || d.sums[0][0].Sum.Most < d.sums[0][1].Sum.Most && d.Looser == nil) {
		d.partly("no calls are known that spend more than one of the sums")
		return nil
	}
	found := [2]*Witness{d.Stricter, d.Looser}
	p, err = d.find(limit, true)
	switch {
	case err != nil:
	case p.cut:
		d.partly(d.cutBy())
	case p.unsettled():
		d.partly(p.doubt())
	}
	d.Stricter, d.Looser = found[0], found[1]
	return err
}

// cutBy returns the reason why a search ended early: the limit that it reached.
func (d *Comparison) cutBy() string {
	if d.stop() {
		return verify.WhyTime
	}
	return verify.WhyStates
}

// maxDataStates is the maximum number of states that one search visits if the state of some net
// depends on the arguments of calls.
const maxDataStates = 300

// find repeats the search, adding shared nets, until no omitted net affects the result. It returns
// the last search. If loose is true, the search includes calls that might be impossible and lets
// timed transitions fire at any time.
func (d *Comparison) find(limit int, loose bool) (*product, error) {
	for {
		p, err := d.product(loose)
		if err != nil {
			return nil, err
		}
		most := limit - d.states
		if p.hasData() {
			most = min(most, maxDataStates) // limit the search further, because nets whose state depends on arguments have many similar states
		}
		missing := p.search(most)
		d.states += len(p.nodes)
		switch {
		case missing != nil:
		case !loose && d.states < limit && p.unsettled() && d.alike < mostAlike && !d.stop():
			d.alike *= 2
		default:
			return p, nil
		}
		for _, i := range missing {
			d.kept[i] = true
		}
	}
}

// product returns a product of the two policies. It omits shared nets unless a difference depends
// on them. In a loose search, it also omits nets whose state depends on arguments, unless their
// policy denies calls by default.
func (d *Comparison) product(loose bool) (*product, error) {
	p := &product{Comparison: d, seen: make(map[string]bool), loose: loose}
	for i, side := range d.sides {
		all := func(n gate.NetInfo) bool { return !loose || side.deny || !readsData(n) }
		wanted := func(n gate.NetInfo) bool {
			at := slices.IndexFunc(d.shared, func(t sharedNet) bool { return t[i] == n.Name })
			return (at < 0 || d.kept[at]) && all(n)
		}
		seen := clockless
		if loose {
			seen = func(n gate.Net) gate.Net { return clockless(lenient(n)) }
		}
		var err, failed error
		p.policies[i], err = side.buildPolicy(wanted, seen)
		if loose {
			p.whole[i], failed = side.buildPolicy(all, seen)
		}
		if err := cmp.Or(err, failed); err != nil {
			return nil, err
		}
	}
	p.calls, p.maybe = d.distinct(d.calls, p), d.distinct(d.maybe, p)
	p.waits = waits(p.policies)
	if loose {
		p.ticks = d.ticks(p.policies)
	}
	return p, nil
}
