package gate

import "github.com/petrigate/petrigate/internal/petri"

// maxRounds bounds the rounds of a net: after it, a net that still moves by itself
// counts as moving for ever.
const maxRounds = 10_000

// advance moves m by the structural transitions of the net until it is at rest. It
// reports whether that is so within maxRounds; if not, m is as it was. A call in
// flight that fails must not have moved the net: its tokens count as present.
func (n *net) advance(m petri.Marking, flights []Flight) bool {
	present := func(m petri.Marking) petri.Marking {
		return n.displayed(&NetData{Marking: m, Flights: flights})
	}
	return n.net.Advance(m, n.structural, maxRounds, present)
}
