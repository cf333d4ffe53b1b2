package gate

import (
	"slices"

	"github.com/petrigate/petrigate/gate/internal/keyvalue"
	"github.com/petrigate/petrigate/gate/internal/listing"
)

// netKeys are the keys of the nets of a policy.
type netKeys struct {
	keys    keyvalue.Set
	keyed   listing.Set // nets with a key
	results bool        // some net reads results
}

// newNetKeys numbers the fields and the keys of the nets.
func newNetKeys(nets []*net) (k netKeys) {
	k.keyed = listing.NewSet(len(nets))
	for _, n := range nets {
		for i := range n.Transitions {
			n.keyOf = append(n.keyOf, -1)
			if key := n.KeyOf(&n.Transitions[i]); len(key) > 0 {
				number := k.keys.Number(key)
				n.setKey(i, number, k.keys.At(number))
			}
		}
		if len(n.keys) > 0 {
			k.keyed.Add(n.index)
			n.written = *k.keys.At(n.keys[0])
			if len(n.Key) > 0 {
				n.written.Written = n.Key
			}
		}
		k.results = k.results || len(n.results) > 0 || n.OnSuccess != nil
	}
	return k
}

// setKey assigns the key, which has this number, to a transition.
func (n *net) setKey(transition, number int, k *keyvalue.Key) {
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
