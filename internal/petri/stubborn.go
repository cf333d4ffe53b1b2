package petri

import "github.com/petrigate/petrigate/internal/list"

// stubborn chooses a strong stubborn set in each state: a set of transitions that suffices to find
// every deadlock. See findDeadlocks.
type stubborn struct {
	net        *Net
	interferes [][]int32 // for each transition, the transitions that it can disable or that can disable it
	producers  [][]int32 // for each place, the transitions that add tokens to it

	marking Marking
	active  []bool // whether each transition is enabled in the marking
	addedIn []int  // for each transition, the number of the last set that it was added to
	round   int
	set     []int32
	best    []int32

	states, enabled, chosen int // numbers of states visited, of transitions enabled in them, and of transitions chosen
}

// worthwhile reports whether computing stubborn sets is worth the effort. It returns true for the
// first 500 states. After that, the sets must have excluded more than a tenth of the enabled
// transitions so far.
func (s *stubborn) worthwhile() bool {
	return s.states < 500 || 10*s.chosen < 9*s.enabled
}

func newStubborn(n *Net) *stubborn {
	s := &stubborn{
		net: n, producers: make([][]int32, n.Places), marking: make(Marking, n.Places),
		active: make([]bool, len(n.Transitions)), addedIn: make([]int, len(n.Transitions)),
	}
	needs, takes := make([][]int32, n.Places), make([][]int32, n.Places)
	for i := range n.Transitions {
		t := &n.Transitions[i]
		for _, a := range t.In {
			needs[a.Place] = append(needs[a.Place], int32(i))
		}
		for _, a := range t.Consumed() {
			takes[a.Place] = append(takes[a.Place], int32(i))
		}
		for _, a := range t.Out {
			if a.Weight > weight(t.In, a.Place) {
				s.producers[a.Place] = append(s.producers[a.Place], int32(i))
			}
		}
	}
	for i := range n.Transitions {
		t := &n.Transitions[i]
		var meets []int32
		for _, a := range t.In {
			meets = append(meets, takes[a.Place]...)
		}
		for _, a := range t.Consumed() {
			meets = append(meets, needs[a.Place]...)
		}
		s.interferes = append(s.interferes, list.Sorted(meets))
	}
	return s
}

// choose returns the transitions to fire in the state: the enabled transitions in the smallest
// stubborn set found.
func (s *stubborn) choose(l *layout, key []uint64) []int32 {
	l.unpack(key, s.marking)
	for i := range s.active {
		if s.active[i] = s.net.Transitions[i].Enabled(s.marking); s.active[i] {
			s.enabled++
		}
	}
	s.states++
	s.best = s.best[:0]
	seeds := maxSeeds
	for i, able := range s.active {
		if !able {
			continue
		}
		if seeds--; s.build(int32(i)) && len(s.best) == 1 || seeds == 0 {
			break
		}
	}
	if len(s.best) == 0 { // no set was small enough: fire all enabled transitions
		for i, able := range s.active {
			if able {
				s.best = append(s.best, int32(i))
			}
		}
	}
	s.chosen += len(s.best)
	return s.best
}

// Limits on the effort per state: the number of sets that are built and compared, and the size of a
// set.
const (
	maxSeeds = 8
	maxSet   = 400
)

// build computes a stubborn set that contains the given transition. It returns false if the set has
// more than maxSet transitions, or at least as many enabled transitions as the best set so far.
// Otherwise, it stores the enabled transitions of the set in best.
func (s *stubborn) build(seed int32) bool {
	s.round++
	s.set = append(s.set[:0], seed)
	s.addedIn[seed] = s.round
	enabled := 0
	for k := 0; k < len(s.set); k++ {
		if len(s.set) > maxSet {
			return false
		}
		t := s.set[k]
		if s.active[t] {
			if enabled++; len(s.best) > 0 && enabled >= len(s.best) {
				return false
			}
			s.addAll(s.interferes[t])
		} else {
			s.addAll(s.producers[s.missingPlace(t)])
		}
	}
	s.best = s.best[:0]
	for _, t := range s.set {
		if s.active[t] {
			s.best = append(s.best, t)
		}
	}
	return true
}

func (s *stubborn) addAll(transitions []int32) {
	for _, t := range transitions {
		if s.addedIn[t] != s.round {
			s.addedIn[t] = s.round
			s.set = append(s.set, t)
		}
	}
}

// missingPlace returns the place whose lack of tokens disables t. If there are several, it returns
// the one with the fewest producers.
func (s *stubborn) missingPlace(t int32) int {
	best := -1
	for _, a := range s.net.Transitions[t].In {
		if s.marking[a.Place] < a.Weight && (best < 0 || len(s.producers[a.Place]) < len(s.producers[best])) {
			best = a.Place
		}
	}
	return best
}
