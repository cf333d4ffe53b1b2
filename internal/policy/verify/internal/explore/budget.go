package explore

import (
	"slices"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/petri"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
)

// A Budget specifies which nets can prove an upper bound on the number of calls.
type Budget struct {
	Shared bool          // whether to consider only nets with a wider scope than a session
	Every  time.Duration // minimum interval between two tokens that the clock adds; if 0, the clock must not add tokens
}

// FindBudget looks for a net that bounds the number of calls tagged as [Wanted]. The net must have
// a place that starts with at least one token and at most limit tokens. Each admitted wanted call
// must permanently take at least one token from this place. Only the clock may refill the place.
func (m *Model) FindBudget(tag func(*callclass.Class) uint8, limit int, b Budget) (net int, ok bool) {
	if m.Calls.Gap(nil, tag) != "" {
		return 0, false
	}
	for _, n := range m.Nets {
		if n.Info.Advisory || n.Info.Shadow || b.Shared && n.Info.Scope == gate.ScopeSession {
			continue
		}
		for p, name := range n.Info.Places {
			if tokens := n.Info.Initial[name]; tokens > 0 && tokens <= limit && m.pays(n, p, tag, b.Every) {
				return n.Index, true
			}
		}
	}
	return 0, false
}

// pays reports whether each call tagged as [Wanted] that n admits takes a token from the given
// place for good. Only the clock may refill the place, with at most one token per interval and up
// to the initial number. If the interval is 0, nothing may refill the place.
func (m *Model) pays(n *Net, place int, tag func(*callclass.Class) uint8, every time.Duration) bool {
	cost, filled := make([]bool, len(n.Trans)), 0
	for i := range n.Trans {
		in, out := weight(n.Trans[i].In, place), weight(n.Trans[i].Out, place)
		def := &n.Info.Transitions[i]
		if out > in {
			if filled++; every == 0 || def.Every < every || out > in+1 || filled > 1 || !n.bounded(place) {
				return false
			}
		}
		cost[i] = in > out && !def.Deferred && !def.Observe
	}
	pays := func(a callclass.Ask) bool {
		return a.Refused || !a.Free && len(a.Transitions) > 0 && !slices.ContainsFunc(a.Transitions, func(t int) bool { return !cost[t] })
	}
	classes, gap := m.ClassesFor([]int{n.Index}, tag)
	return gap == "" && !slices.ContainsFunc(classes, func(s *callclass.Class) bool {
		e := s.MeaningIn(n.Index)
		return tag(s)&Wanted != 0 && (e < 0 || !slices.ContainsFunc(n.Meanings.List[e], pays))
	})
}

// bounded reports whether a simple check shows that the place never holds more tokens than at the
// start. The check looks for a second place that is initially empty. No transition may increase the
// total number of tokens in the two places.
func (n *structure) bounded(place int) bool {
	for q, name := range n.Info.Places {
		adds := func(t petri.Transition) bool {
			return weight(t.Out, place)+weight(t.Out, q) > weight(t.In, place)+weight(t.In, q)
		}
		if q != place && n.Info.Initial[name] == 0 && !slices.ContainsFunc(n.Trans, adds) {
			return true
		}
	}
	return false
}
