package gate

import (
	"slices"

	"github.com/petrigate/petrigate/gate/internal/listing"
)

// judge chooses transitions for the names of the call, one name after the other.
func (f *finding) judge(room []int) {
	scratch := scratch{net: f.net, marking: f.data.Marking, room: room}
	spared := f.net.listing.Spared(f.labels)
	observes, forbids := false, false // whether an observer and another transition were chosen
	for i := range f.labels {
		lists, free := f.net.listing.Lookup(&f.labels[i])
		if free {
			f.kind = max(f.kind, Free)
			continue
		}
		lists = listing.Without(lists, spared)
		if f.keyed != nil {
			lists = f.withValue(lists)
		}
		if len(lists) == 0 {
			continue
		}
		t := f.net.candidate(lists, f.data, !f.net.hasEvidence || f.net.listing.OnlyObserve(lists))
		switch {
		case t < 0 && f.net.listing.OnlyObserve(lists) && !f.data.Stuck:
		case t < 0:
			f.block(i)
		case f.net.Transitions[t].Observe:
			// A weak name is not evidence.
			if !f.labels[i].Weak && !f.chosen(t) && !f.spoiled(t) && scratch.take(t) {
				observes = true
				f.choose(t, i)
			}
		case f.chosen(t):
		case f.labels[i].Weak && f.net.progress[t]:
			f.blockDoubtful(i)
		case !scratch.take(t):
			f.block(i)
		default:
			forbids = true
			f.choose(t, i)
		}
	}
	if f.kind == Blocked {
		f.choices = f.choices[:0]
		return
	}
	if forbids && observes { // a call must not refill its own limit
		f.choices = slices.DeleteFunc(f.choices, func(c choice) bool { return f.net.Transitions[c.transition].Observe })
	}
	if forbids && f.net.hasEvidence {
		f.chooseEvidence(spared)
	}
}

// scratch is a copy of the marking. The transitions for the names of one call take their tokens
// from it, so that two names cannot spend the same token.
type scratch struct {
	net     *net
	marking []int // read-only until own is set
	room    []int
	own     bool
}

// take removes the tokens that a firing of t removes. It reports whether t was enabled.
func (s *scratch) take(t int) bool {
	if !s.net.net.Transitions[t].Enabled(s.marking) {
		return false
	}
	def := &s.net.Transitions[t]
	if def.Observe && def.Deferred {
		return true
	}
	if !s.own {
		s.marking = append(s.room, s.marking...)
		s.own = true
	}
	arcs := s.net.lasting[t]
	if def.Deferred {
		arcs = s.net.net.Transitions[t].In
	}
	for _, a := range arcs {
		s.marking[a.Place] -= a.Weight
	}
	return true
}

// judgeWatches removes the observers whose key is in the result from the choices, because they are
// watched in the default state, and records those that were not chosen: their watches do not count
// for this value.
func (f *finding) judgeWatches() {
	for i, w := range f.plan().watches {
		if !f.chosen(w.transition) {
			f.makeSpecial().missed |= 1 << i
		}
	}
	f.choices = slices.DeleteFunc(f.choices, func(c choice) bool { return slices.Contains(f.net.results, c.transition) })
	if f.kind == Gated && len(f.choices) == 0 {
		f.kind = Abstain
	}
}

// judgeBase evaluates the part of the call that concerns no value.
func (f *finding) judgeBase() {
	switch {
	case f.plan().missing != nil:
		f.kind, f.label = Blocked, int32(f.plan().missing.label)
	case len(f.plan().watches) > 0 && len(f.spoils())+len(f.data.Spoilers()) == 0:
		f.kind, f.choices = Gated, append(f.choices, f.plan().watches...)
	default:
		f.judge(nil) // one of the names might be free
	}
}

// checkSum blocks a call that would exceed the limit of the net's sum, or whose amount cannot be read.
func (f *finding) checkSum(c *Call) {
	if f.kind != Gated || !f.hasGating() {
		return
	}
	amount, reason, retry := f.net.limit().Add(f.displayName(c), c, spentOf(f.data))
	if amount == nil {
		f.blockFor(f.withReason(reason), retry)
		return
	}
	f.makeSpecial().amount = amount
}
