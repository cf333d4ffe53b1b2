package explore

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
)

// A place that starts with many tokens is a large counter, and exploring all its levels would be
// expensive. If calls take from it and put into it one token at a time, the policy behaves alike at
// all levels except the outermost ones, so a smaller initial marking suffices. Such a cut-off
// (Emerson and Namjoshi, "Reasoning about rings", POPL 1995) is not assumed, but detected in the
// explored states, see [Space.saturated].

// minLargeCounter is the number of initial tokens above which a place is a large counter.
const minLargeCounter = 8

// counter returns the place of the net that is a large counter, or -1. A net with several has none
// that can be reduced.
func (n *Net) counter() int {
	found := -1
	for i, p := range n.Info.Places {
		if n.Info.Initial[p] > minLargeCounter {
			if found >= 0 || !n.steady(i) {
				return -1
			}
			found = i
		}
	}
	return found
}

// steady reports whether only calls and the clock take from the place and put into it, one token at
// a time and without deferring it to the end of the call.
func (n *Net) steady(place int) bool {
	for i := range n.Trans {
		in, out := weight(n.Trans[i].In, place), weight(n.Trans[i].Out, place)
		def := &n.Info.Transitions[i]
		if in == 0 && out == 0 {
			continue
		}
		if in > 1 || out > 1 || len(def.Tools) == 0 && def.Every == 0 || def.Deferred && !def.Observe {
			return false
		}
	}
	return true
}

// cap returns the net with its counter starting at a smaller number of tokens, or the net itself if
// it has no larger counter. The copies are cached.
func (n *Net) cap(to int) *Net {
	p := n.counter()
	if p < 0 || n.Info.Initial[n.Info.Places[p]] <= to {
		return n
	}
	if n.capped[to] == nil {
		c := *n
		c.locals, c.ends, c.key = callclass.Numbers[local]{}, make(map[endKey]*ended), nil
		listing := *n.Net
		c.Net = &listing
		c.Info.Initial = maps.Clone(n.Info.Initial)
		c.Info.Initial[n.Info.Places[p]] = to
		c.counterAt = p
		c.start()
		if n.capped == nil {
			n.capped = make(map[int]*Net)
		}
		n.capped[to] = &c
	}
	return n.capped[to]
}

// saturated reports whether, for each reduced counter, the states at two adjacent levels away from
// both ends are equal. Then the states at any number of levels in between are equal too, because
// the effect of calls does not depend on the level there.
func (s *Space) saturated() bool {
	for _, pos := range s.limits {
		if !s.saturatedAt(pos) {
			return false
		}
	}
	return true
}

func (s *Space) saturatedAt(pos int) bool {
	n := s.nets[pos]
	place := n.counterAt
	top := n.Info.Initial[n.Info.Places[place]]
	mirror := n.mirrors(place, top)
	margin := 0
	for i := range n.Trans {
		if weight(n.Trans[i].In, place) > 0 {
			margin++
		}
	}
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
		levels[level][s.without(words, pos, mirror)] = true
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

// mirrors returns the place and the places whose tokens complement it, so that both together always
// hold top tokens.
func (n *Net) mirrors(place, top int) []int {
	out := []int{place}
	for p := range n.Info.Places {
		if p == place || !n.steady(p) {
			continue
		}
		opposite := true
		for _, l := range n.locals.List {
			opposite = opposite && l.marking[p]+l.marking[place] == top
		}
		if opposite {
			out = append(out, p)
		}
	}
	return out
}

// without returns a key of the state that leaves out some places of one net.
func (s *Space) without(words []uint32, pos int, places []int) string {
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
