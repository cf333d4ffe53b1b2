package gate

import (
	"maps"
	"slices"

	"github.com/petrigate/petrigate/gate/internal/netstate"
)

// Fate says whether the state of a net survives when another policy takes over.
type Fate uint8

const (
	Continued Fate = iota // the net is the same, and so is its state
	Begun                 // the net is new, or has changed: it is at its start
	Dropped               // the new policy does not have the net
)

// A Kept is the result of [Policy.Adopt] for one net.
type Kept struct {
	Net  string
	Fate Fate

	// Lost says that the state of a net that is dropped, or begun anew, was not
	// that of its start, or had calls in flight.
	Lost bool
}

// Adopt converts the state s of another policy to a state of to, and reports the
// fate of each net: those of to in order, then the dropped ones. A net keeps its
// state if its name, its fingerprint and its shadow flag are unchanged; every
// other net begins at its start. The nets in active are active, all if it is nil.
// Calls in flight and calls that wait stay, and move the nets that are kept. Where a
// net begins, the calls in flight that may spoil its evidence do so. Adopt does not
// change s.
func (p *Policy) Adopt(s *State, active []string) (*State, []Kept) {
	to, from := p.NewState(active), s.policy
	to.Owners, to.Last, to.Spent, to.Tools, to.Would = s.Owners, s.Last, slices.Clip(s.Spent), s.Tools, s.Would
	to.Asks, to.ids = maps.Clone(s.Asks), maps.Clone(s.ids)
	kept := make([]Kept, 0, len(p.nets))
	numbers := make(map[int]int) // of the nets that continue, by their old numbers
	for _, n := range p.nets {
		old := from.byName[n.Name]
		if n.continues(old) {
			if data := s.Nets[old.index]; data.Active == to.Nets[n.index].Active {
				to.Nets[n.index] = data
			} else {
				to.Nets[n.index] = netstate.Switched(data, to.Nets[n.index].Active)
			}
			numbers[old.index] = n.index
			kept = append(kept, Kept{Net: n.Name})
			continue
		}
		if n.spoils {
			to.Nets[n.index] = p.suspecting(s, n, to.Nets[n.index], old)
			if old != nil {
				numbers[old.index] = n.index
			}
		}
		kept = append(kept, Kept{Net: n.Name, Fate: Begun, Lost: old.loses(s)})
	}
	for _, old := range from.nets {
		if p.byName[old.Name] == nil {
			kept = append(kept, Kept{Net: old.Name, Fate: Dropped, Lost: old.loses(s)})
		}
	}
	for number, c := range s.Calls {
		to.Calls[number] = to.suspected(c.renumbered(numbers))
	}
	return to, kept
}

// continues reports whether n can keep the state of old; old may be nil.
func (n *net) continues(old *net) bool {
	return old != nil && n.print == old.print && n.Shadow == old.Shadow
}

// loses reports whether the net exists and is not at its start.
func (n *net) loses(s *State) bool {
	if n == nil {
		return false
	}
	d := s.Nets[n.index].Deciding()
	return len(d.Flights) > 0 || d.Spent != nil || s.Nets[n.index].Values.Len() > 0 || !slices.Equal(d.Marking, []int(n.start))
}

// renumbered returns c with the numbers of its nets in another policy.
func (c *OpenCall) renumbered(numbers map[int]int) *OpenCall {
	moved := *c
	moved.Nets, moved.Keys = nil, nil
	for k, old := range c.Nets {
		if i, ok := numbers[old]; ok {
			moved.Nets = append(moved.Nets, i)
			if c.Keys != nil {
				moved.Keys = append(moved.Keys, c.Keys[k])
			}
		}
	}
	return &moved
}
