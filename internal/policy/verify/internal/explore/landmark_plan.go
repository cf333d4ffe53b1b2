package explore

import "slices"

// A plan cannot be shorter than the number of disjoint landmarks. If a plan of that length exists,
// as it does for a chain of rules, it is found without a search.

// landmarkPlan returns the plan that contains one call of each landmark, each preceded by the
// landmarks that it needs. It returns nil if these calls are not a plan or if a shorter plan might
// exist.
func (p *planner) landmarkPlan(start []int) (path []int) {
	if p.sole >= 0 {
		return nil
	}
	found, ok := p.landmarks(start, p.goal, -1)
	if !ok {
		return nil
	}
	least := p.count(found)
	needs := make([][]int, len(found))
	for k := 1; k < len(found); k++ {
		needs[found[k].parent] = append(needs[found[k].parent], k)
	}
	state := start
	p.round++ // mark the calls of the path
	var reach func(k int) bool
	reach = func(k int) bool {
		for _, before := range needs[k] {
			if !reach(before) {
				return false
			}
		}
		if slices.ContainsFunc(found[k].calls, func(c int) bool { return p.marked[c] == p.round }) {
			return true
		}
		at := slices.IndexFunc(found[k].calls, func(c int) bool { return p.blocker(state, c) < 0 })
		if at < 0 {
			return false
		}
		c := found[k].calls[at]
		p.marked[c] = p.round
		path, state = append(path, c), p.after(state, c)
		return len(path) <= least
	}
	if !reach(0) || len(path) != least || !slices.Contains(p.goal, path[least-1]) {
		return nil
	}
	return path
}
