package petri

import (
	"iter"
	"slices"
)

// Reachable yields the markings that the net can reach, with the transitions that
// are enabled in each: each marking once, the nearest first. It never ends for an
// unbounded net.
func (n *Net) Reachable(initial Marking) iter.Seq2[Marking, []int] {
	return func(yield func(Marking, []int) bool) {
		seen := make(map[string]bool)
		var queue []Marking
		visit := func(m Marking) {
			if key := string(m.AppendKey(nil)); !seen[key] {
				seen[key] = true
				queue = append(queue, m)
			}
		}
		for visit(initial); len(queue) > 0; queue = queue[1:] {
			m := queue[0]
			var enabled []int
			for i := range n.Transitions {
				if t := &n.Transitions[i]; t.Enabled(m) {
					enabled = append(enabled, i)
					next := slices.Clone(m)
					t.Fire(next)
					visit(next)
				}
			}
			if !yield(m, enabled) {
				return
			}
		}
	}
}
