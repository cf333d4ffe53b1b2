package petri

import "slices"

// Conserves reports whether the weighted sum of tokens is the same in every marking
// that the net can reach. Weights are those of all places.
func Conserves(n *Net, initial Marking, weights []int, o Options) Answer {
	var changing []int // transitions
	for i := range n.Transitions {
		if t := &n.Transitions[i]; weigh(t.In, weights) != weigh(t.Out, weights) {
			changing = append(changing, i)
		}
	}
	if len(changing) == 0 {
		return Yes
	}
	a := Analyze(n, initial, o)
	fires := slices.ContainsFunc(changing, func(t int) bool { return !slices.Contains(a.Dead, t) })
	switch {
	case a.Stop != Finished && (a.Bounded == No || !fires):
		return Unknown // which of them can ever fire was not found out
	case fires:
		return No
	}
	return Yes
}

// weigh returns the weighted sum of the tokens of the arcs.
func weigh(arcs []Arc, weights []int) int {
	sum := 0
	for _, a := range arcs {
		sum += a.Weight * weights[a.Place]
	}
	return sum
}
