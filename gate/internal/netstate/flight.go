package netstate

import "time"

// A Flight is a transition that waits for the end of a call.
type Flight struct {
	Owner      uint64 // session of the call, see the owners of the state
	Call       uint64
	Transition int       // index of the transition
	Name       string    // name of the call
	Since      time.Time // time of the call
}

// SameCall reports whether f and g belong to the same call.
func (f *Flight) SameCall(g *Flight) bool { return f.Owner == g.Owner && f.Call == g.Call }

// Filter returns a new slice of the flights that ok accepts.
func Filter(flights []Flight, ok func(Flight) bool) []Flight {
	var kept []Flight
	for _, f := range flights {
		if ok(f) {
			kept = append(kept, f)
		}
	}
	return kept
}
