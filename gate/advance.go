package gate

import "github.com/petrigate/petrigate/internal/petri"

// maxRounds bounds the rounds of a net: after it, a net that still moves by itself
// counts as moving for ever.
const maxRounds = 10_000

// advance fires the structural transitions of the net on m until nothing
// moves or a marking comes back. It reports whether that happened within
// maxRounds; if not, m is as it was.
//
// Which transitions compete is judged with the tokens in flight counted as
// present: a call that fails must not have moved the net.
func (n *net) advance(m petri.Marking, flights []Flight) bool {
	start := append(petri.Marking(nil), m...)
	seen := map[string]bool{string(m.AppendKey(nil)): true}
	for rounds := 0; n.round(m, flights); rounds++ {
		key := string(m.AppendKey(nil))
		if seen[key] {
			return true
		}
		if rounds == maxRounds {
			copy(m, start)
			return false
		}
		seen[key] = true
	}
	return true
}

// restless reports whether a structural transition is enabled.
func (n *net) restless(m petri.Marking) bool {
	for _, t := range n.structural {
		if n.net.Transitions[t].Enabled(m) {
			return true
		}
	}
	return false
}

// round fires, in order, the structural transitions that are enabled and compete
// with no other; it reports whether one fired. What one of them enables waits
// for the next round: its rivals would be enabled only then, and the order of
// the declarations would decide between them.
func (n *net) round(m petri.Marking, flights []Flight) bool {
	present := n.displayed(&NetData{Marking: m, Flights: flights})
	var room [8]int
	ready := room[:0]
	for _, t := range n.structural {
		if n.net.Transitions[t].Enabled(m) && !n.competes(t, present) {
			ready = append(ready, t)
		}
	}
	fired := false
	for _, t := range ready {
		if tr := &n.net.Transitions[t]; tr.Enabled(m) { // three can compete although no two of them do
			tr.Fire(m)
			fired = true
		}
	}
	return fired
}

// competes reports whether another structural transition needs the same tokens.
func (n *net) competes(t int, present petri.Marking) bool {
	for _, u := range n.structural {
		if u != t && n.net.Transitions[u].Enabled(present) && n.net.Transitions[t].Clash(&n.net.Transitions[u], present) {
			return true
		}
	}
	return false
}
