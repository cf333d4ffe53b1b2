package explore

import (
	"math/bits"
	"slices"

	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
)

// Questions about the tokens of one net.

// Unbalanced looks for a state in which the net has another number of tokens than
// it begins with, those in flight counted.
func (m *Model) Unbalanced(net int) *Query {
	return &Query{Sole: -1, state: func(s *Space, words []uint32) bool {
		n, start, now := s.nets[s.at[net]], 0, 0
		for _, tokens := range n.Info.Initial {
			start += tokens
		}
		for _, tokens := range n.present(&n.locals.List[words[1+s.at[net]]]) {
			now += tokens
		}
		return now != start
	}}
}

// MaxExclusive is how many places fit in the state of a monitor.
const MaxExclusive = 32

// Coinciding looks for a state in which two of the places of the net are marked.
func (m *Model) Coinciding(net int, places []int) *Query {
	n := m.Nets[net]
	return &Query{
		Sole: -1,
		state: func(s *Space, words []uint32) bool {
			pos := s.at[net]
			return bits.OnesCount32(words[0]|s.nets[pos].marked(int(words[1+pos]), places)) > 1
		},
		lost: func(s *Space, mon uint32, open *openType) uint32 {
			for _, h := range open.holds {
				if s.nets[h.Net].Index == net {
					mon |= n.released(h.Meaning, places)
				}
			}
			return mon
		},
	}
}

// GatedGoal is met by a call that the net gates. It is right to stop where one of
// the places is marked.
func (m *Model) GatedGoal(net int, places []string) *Goal {
	g := &Goal{
		values:  m.Nets[net].Keyed(),
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

// marked is the set of those of the places that hold a token, tokens in flight
// counted where they came from.
func (n *Net) marked(state int, places []int) (set uint32) {
	present := n.present(&n.locals.List[state])
	for i, p := range places {
		if present[p] > 0 {
			set |= 1 << i
		}
	}
	return set
}

// released is the set of those of the places to which an unknown outcome gives
// back tokens though the call may still run.
func (n *Net) released(hold int, places []int) (set uint32) {
	for _, t := range n.held.List[hold].flights {
		for i, p := range places {
			if n.Info.Transitions[t].Release && weight(n.Trans[t].In, p) > 0 {
				set |= 1 << i
			}
		}
	}
	return set
}
