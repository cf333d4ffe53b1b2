package explore

import (
	"slices"

	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
)

// Tidy lets calls end as early as that changes nothing, so that a run reads one
// call after the other where it can: an end goes before what happens in other
// nets, and to calls that the question does not tell from it. The last move
// stays what it is.
func Tidy(ms []Move, tag func(*callclass.Class) uint8) []Move {
	out := slices.Clone(ms)
	of := make(map[int]*callclass.Class)
	for _, mv := range ms {
		if mv.Class != nil {
			of[mv.Call] = mv.Class
		}
	}
	for i := 1; i < len(out)-1; i++ {
		if out[i].Class != nil {
			continue
		}
		for k := i; out[k].Call != out[k-1].Call && apart(of[out[k].Call], of[out[k-1].Call], tag); k-- {
			out[k], out[k-1] = out[k-1], out[k]
		}
	}
	return out
}

// apart reports whether what two calls do is the same in either order.
func apart(a, b *callclass.Class, tag func(*callclass.Class) uint8) bool {
	if tag != nil && tag(a) != 0 && tag(b) != 0 {
		return false
	}
	return !slices.ContainsFunc(a.Effects, func(t callclass.Effect) bool { return b.Concerns(t.Net) })
}
