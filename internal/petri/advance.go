package petri

import "slices"

// Advance fires structural transitions, which fire by themselves, in the marking m. It proceeds in
// rounds until a round fires no transition or a marking repeats. If this takes more than the given
// number of rounds, Advance restores m and returns false.
//
// Transitions that conflict with each other do not fire. To detect conflicts, Advance uses the
// marking that the callback returns. This marking consists of m and any tokens that may come back,
// such as those held by calls in flight.
func (n *Net) Advance(m Marking, structural []int, rounds int, present func(Marking) Marking) bool {
	start := slices.Clone(m)
	seen := map[string]bool{string(m.AppendKey(nil)): true}
	for ; n.round(m, structural, present(m)); rounds-- {
		key := string(m.AppendKey(nil))
		if seen[key] {
			return true
		}
		if rounds == 0 {
			copy(m, start)
			return false
		}
		seen[key] = true
	}
	return true
}

// round fires the structural transitions that are enabled in m and do not conflict with another
// structural transition. It reports whether any transition fired. A transition that becomes enabled
// during the round must wait for the next one, because a conflicting transition might become
// enabled later in the same round.
func (n *Net) round(m Marking, structural []int, present Marking) bool {
	var room [8]int
	ready := room[:0]
	for _, t := range structural {
		if n.Transitions[t].Enabled(m) && !n.inConflict(t, structural, present) {
			ready = append(ready, t)
		}
	}
	fired := false
	for _, t := range ready {
		if tr := &n.Transitions[t]; tr.Enabled(m) { // an earlier firing may have disabled t: three transitions can conflict even if no two of them do
			tr.Fire(m)
			fired = true
		}
	}
	return fired
}

// inConflict reports whether another structural transition needs the same tokens as t.
func (n *Net) inConflict(t int, structural []int, present Marking) bool {
	return slices.ContainsFunc(structural, func(u int) bool {
		return u != t && n.Transitions[u].Enabled(present) && n.Transitions[t].ConflictsWith(&n.Transitions[u], present)
	})
}
