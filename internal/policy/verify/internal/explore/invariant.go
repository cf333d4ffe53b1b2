package explore

import (
	"math/bits"
	"slices"

	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
)

// The following queries are about the tokens of one net.

// UnbalancedQuery returns a query for a state where the net's token count, including tokens in
// flight, differs from the initial count.
func (sys *system) UnbalancedQuery(net int) *Query {
	return &Query{Sole: -1, state: func(s *Space, words []uint32) bool {
		n, start, now := s.nets[s.at[net]], 0, 0
		for _, tokens := range n.Info.Initial {
			start += tokens
		}
		for _, tokens := range n.restoredMarking(&n.locals.List[words[1+s.at[net]]]) {
			now += tokens
		}
		return now != start
	}}
}

// MaxExclusive is the maximum number of places that a [system.CoincidenceQuery] can compare.
const MaxExclusive = 32

// CoincidenceQuery returns a query for a state where at least two of the given places of the net are
// marked.
func (sys *system) CoincidenceQuery(net int, places []int) *Query {
	n := sys.Nets[net]
	return &Query{
		Sole: -1,
		state: func(s *Space, words []uint32) bool {
			pos := s.at[net]
			return bits.OnesCount32(words[0]|s.nets[pos].markedPlaces(int(words[1+pos]), places)) > 1
		},
		lost: func(s *Space, mon uint32, open *openType) uint32 {
			for _, h := range open.holds {
				if s.nets[h.Net].Index == net {
					mon |= n.releasedPlaces(h.Meaning, places)
				}
			}
			return mon
		},
	}
}

// GatedGoal returns the goal of reaching a call that the net gates. A run may stop in a state where
// any of the given places is marked.
func (sys *system) GatedGoal(net int, places []string) *Goal {
	g := &Goal{
		values:  sys.Nets[net].Keyed(),
		Matches: func(s *callclass.Class) bool { return s.Concerns(net) },
		ok: func(s *Space, k int32, c int) bool {
			pos := s.at[net]
			for _, t := range s.classes[c].effects {
				if t.Net == pos && s.nets[pos].begin(int(s.state(k)[1+pos]), t.Meaning).verdict == gates {
					return true
				}
			}
			return false
		},
	}
	if places != nil {
		g.excused = func(s *Space, k int32) bool {
			pos := s.at[net]
			n := s.nets[pos]
			l := &n.locals.List[s.state(k)[1+pos]]
			return slices.ContainsFunc(places, func(p string) bool { return l.marking[n.Place[p]] > 0 })
		}
	}
	return g
}

// markedPlaces returns the subset of the given places that hold a token. A token in flight counts as
// being in the place that it was taken from.
func (n *Net) markedPlaces(state int, places []int) (set uint32) {
	present := n.restoredMarking(&n.locals.List[state])
	for i, p := range places {
		if present[p] > 0 {
			set |= 1 << i
		}
	}
	return set
}

// releasedPlaces returns the subset of the given places that get tokens back if a call in flight
// ends with an unknown outcome. The index hold identifies the call's transitions in flight; see
// [holding].
func (n *Net) releasedPlaces(hold int, places []int) (set uint32) {
	for _, t := range n.held.List[hold].flights {
		for i, p := range places {
			if n.Info.Transitions[t].Release && weight(n.Trans[t].In, p) > 0 {
				set |= 1 << i
			}
		}
	}
	return set
}
