package explore

import (
	"slices"

	"github.com/petrigate/petrigate/gate"
)

// Meets reports whether the run with the given moves meets the query. It does not check queries
// without a Start function or with a Stay function, and returns true for them.
func (sys *system) Meets(q *Query, ms []Move) bool {
	if q.Start == nil || q.Stay != nil {
		return true
	}
	r, mon, hit := sys.newRun(), uint32(0), false
	tags := make(map[int]uint8)
	for _, mv := range ms {
		if mv.Class == nil {
			if mv.End == gate.Success && q.Done != nil {
				mon = q.Done(mon, tags[mv.Call])
			}
			r.end(r.calls[mv.Call], mv.End)
			continue
		}
		tag := q.Tag(mv.Class)
		tags[mv.Call] = tag
		_, asking := r.judge(mv.Class)
		manual := slices.ContainsFunc(asking, func(n int) bool { return r.asks(q, n, mv.Class) })
		for range max(1, mv.Times) {
			if mon, hit = q.Start(mon, tag, manual); hit {
				return true
			}
			if mv.Times > 0 && q.Done != nil {
				mon = q.Done(mon, tag)
			}
		}
		r.apply(mv, func([]int) bool { return true })
	}
	return false
}
