package gate

import (
	"slices"

	"github.com/petrigate/petrigate/gate/internal/listing"
)

// readKeys numbers the fields and the keys of the nets.
func (p *Policy) readKeys() {
	p.keyed = listing.NewSet(len(p.nets))
	for _, n := range p.nets {
		for i := range n.Transitions {
			n.keyOf = append(n.keyOf, -1)
			if key := n.KeyOf(&n.Transitions[i]); len(key) > 0 {
				p.readKey(n, i, p.keys.Number(key))
			}
		}
		if len(n.keys) > 0 {
			p.keyed.Add(n.index)
			n.written = *p.keys.At(n.keys[0])
			if len(n.Key) > 0 {
				n.written.Written = n.Key
			}
		}
		p.results = p.results || len(n.results) > 0 || n.OnSuccess != nil
	}
}

// readKey assigns the key with this number to a transition.
func (p *Policy) readKey(n *net, transition, number int) {
	k := p.keys.At(number)
	local := slices.Index(n.keys, number)
	if local < 0 {
		local = len(n.keys)
		n.keys = append(n.keys, number)
	}
	n.keyOf[transition] = local
	if k.Result {
		n.results = append(n.results, transition)
		n.mixed = n.mixed || k.Mixed
	}
}

// ReadsResults reports whether the policy uses the results of calls: as values of a key, for a
// hook, or for a condition. If not, [End.Result] has no effect.
func (p *Policy) ReadsResults() bool { return p.results || p.JudgesResults() }
