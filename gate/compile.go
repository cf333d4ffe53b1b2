package gate

import (
	"cmp"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate/internal/fingerprint"
	"github.com/petrigate/petrigate/gate/listing"
	"github.com/petrigate/petrigate/gate/naming"
)

// compile checks a net and prepares it for decisions.
func compile(def Net) (*net, ErrorList) {
	n := &net{definition: definition{Net: def.Clone()}}
	n.Cause = cmp.Or(n.Cause, CauseNet)
	if errs := n.Check(); len(errs) > 0 {
		return nil, errs
	}
	n.net, n.initial = n.Structure()
	n.structural = n.Structural()
	for i := range n.Transitions {
		t, pt := &n.Transitions[i], &n.net.Transitions[i]
		n.lasting = append(n.lasting, pt.Consumed())
		n.progress = append(n.progress, n.Labels == nil && !t.WeakProgress && pt.Adds())
		n.manual = n.manual || t.Manual
		n.spoils = n.spoils || t.Spoils
		n.hasEvidence = n.hasEvidence || t.Evidence
		if t.Every > 0 {
			n.timed = append(n.timed, i)
		}
	}
	n.moving = len(n.timed) > 0 || n.Sum != nil && n.Sum.Every > 0
	n.reasoned = strings.Split(n.Reason, "{key}")
	n.start = slices.Clone(n.initial)
	n.advance(n.start, nil)
	n.own.Mapper, n.own.First = n.Mapper, n.MatchFirst
	n.prepareClock()
	n.listing = listing.New(&n.Net)
	n.awaits = n.listing.Evidence()
	if n.spoils {
		n.spoiledEvidence = n.listing.Evidence()
	}
	n.own.Patterns = n.listing.Patterns()
	if n.Labels == nil && len(n.Maps) > 0 {
		n.own.Maps = naming.NewMapping(n.Maps)
	}
	n.print = fingerprint.Net(&n.Net)
	n.budget = n.findBudget()
	n.on, n.off = n.newInitialState(true), n.newInitialState(false)
	return n, nil
}

// findBudget returns the budget of the limit n: the transition that consumes the budget and, unless
// n limits a sum, the place that holds the remaining tokens. It returns nil if n is not a limit
// from the user's rules, or if it has no such transition or place.
func (n *net) findBudget() *budget {
	gates := func(t Transition) bool { return len(t.Tools) > 0 && !t.Observe }
	b := &budget{place: -1, spend: slices.IndexFunc(n.Transitions, gates)}
	if n.Cause != CauseLimit || n.Labels == nil || b.spend < 0 {
		return nil
	}
	for _, in := range n.net.Transitions[b.spend].In {
		if n.Sum == nil && in.Weight == 1 && n.initial[in.Place] > 0 {
			b.place = in.Place
			return b
		}
	}
	if n.Sum == nil {
		return nil
	}
	return b
}

// prepareClock determines whether n's timed transitions (those with [Transition.Every]) are
// independent: none of them changes an input of another timed transition or of a structural
// transition. All due firings of an independent transition can be performed in a single step.
func (n *net) prepareClock() {
	n.independent = true
	for _, t := range n.timed {
		for _, u := range slices.Concat(n.structural, n.timed) {
			n.independent = n.independent && (t == u || !n.net.Transitions[t].ChangesInputOf(&n.net.Transitions[u]))
		}
	}
}
