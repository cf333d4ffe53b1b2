package verify

import "slices"

// tidy lets calls end as early as that changes nothing, so that a run reads one
// call after the other where it can: an end goes before what happens in other
// nets, and to calls that the question does not tell from it. The last move
// stays what it is.
func (m *model) tidy(ms []move, tag func(*shape) uint8) []move {
	out := slices.Clone(ms)
	of := make(map[int]*shape)
	for _, mv := range ms {
		if mv.shape != nil {
			of[mv.call] = mv.shape
		}
	}
	for i := 1; i < len(out)-1; i++ {
		if out[i].shape != nil {
			continue
		}
		for k := i; out[k].call != out[k-1].call && apart(of[out[k].call], of[out[k-1].call], tag); k-- {
			out[k], out[k-1] = out[k-1], out[k]
		}
	}
	return out
}

// apart reports whether what two calls do is the same in either order.
func apart(a, b *shape, tag func(*shape) uint8) bool {
	if tag != nil && tag(a) != 0 && tag(b) != 0 {
		return false
	}
	return !slices.ContainsFunc(a.touches, func(t touch) bool { return b.concerns(t.net) })
}
