package explore

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/petri"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
)

// saturated reports whether larger counters would only add states like those already explored. Each
// reduced counter must have two adjacent levels, not close to zero, that occur in combination with
// the same remaining states. If the counter has a complement (see [Net.mirrors]), these levels must
// not be close to the maximum either.
func (s *Space) saturated() bool {
	return !slices.ContainsFunc(s.limits, func(pos int) bool { return !s.saturatedAt(pos) })
}

func (s *Space) saturatedAt(pos int) bool {
	n := s.nets[pos]
	place := n.counterAt
	top := n.Info.Initial[n.Info.Places[place]]
	mirror := n.mirrors(place, top)
	margin := len(list.Filter(n.Trans, func(t petri.Transition) bool { return weight(t.In, place) > 0 }))
	levels := make([]map[string]bool, top+1)
	for k := range s.At {
		words := s.state(int32(k))
		m := n.locals.List[words[1+pos]].marking
		level := m[place]
		if level > top {
			return false
		}
		if levels[level] == nil {
			levels[level] = make(map[string]bool)
		}
		levels[level][s.keyWithout(words, pos, mirror)] = true
	}
	high := top
	if slices.ContainsFunc(mirror, func(p int) bool { return p != place }) {
		high = top - margin
	}
	for j := margin + 1; j <= high; j++ {
		if maps.Equal(levels[j], levels[j-1]) {
			return true
		}
	}
	return false
}

// mirrors returns the given place and its complements. In every known state, the place and a
// complement together hold exactly top tokens. Complements are steady places; see
// [structure.steady].
func (n *Net) mirrors(place, top int) []int {
	out := []int{place}
	for p := range n.Info.Places {
		other := func(l localState) bool { return l.marking[p]+l.marking[place] != top }
		if p != place && n.steady(p) && !slices.ContainsFunc(n.locals.List, other) {
			out = append(out, p)
		}
	}
	return out
}

// keyWithout encodes a state as a key, leaving out the given places of the net at index pos.
func (s *Space) keyWithout(words []uint32, pos int, places []int) string {
	rest := slices.Delete(slices.Clone(words), 1+pos, 2+pos)
	l := &s.nets[pos].locals.List[words[1+pos]]
	k := append(callclass.AppendKey(appendWords(nil, rest), l.flights), l.flags())
	for p, tokens := range l.marking {
		if !slices.Contains(places, p) {
			k = binary.AppendUvarint(k, uint64(tokens))
		}
	}
	return string(k)
}
