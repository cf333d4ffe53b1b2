package statecode

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/rawjson"
)

// numbers are those by which limits of the same calls differ: the tokens at the start, how
// often the clock fires, and the sum.
func numbers(n *gate.Net) (all []int64) {
	for _, place := range n.Places {
		all = append(all, int64(n.Initial[place]))
	}
	for i := range n.Transitions {
		all = append(all, int64(n.Transitions[i].Every))
	}
	if n.Sum != nil {
		all = append(all, int64(n.Sum.Most), int64(n.Sum.Every))
	}
	return all
}

// renumbered returns the net with the numbers of another; false: it has as many others.
func renumbered(n gate.Net, all []int64) (gate.Net, bool) {
	if len(all) != len(numbers(&n)) {
		return n, false
	}
	n.Initial, n.Transitions = maps.Clone(n.Initial), slices.Clone(n.Transitions)
	for _, place := range n.Places {
		if n.Initial[place] = int(all[0]); all[0] == 0 {
			delete(n.Initial, place)
		}
		all = all[1:]
	}
	for i := range n.Transitions {
		n.Transitions[i].Every, all = time.Duration(all[0]), all[1:]
	}
	if n.Sum != nil {
		sum := *n.Sum
		sum.Most, sum.Every = int(all[0]), time.Duration(all[1])
		n.Sum = &sum
	}
	return n, true
}

// limitBefore returns the limit as which a net was written, if one of c counts the same
// calls and differs in its numbers alone.
func (c *Codec) limitBefore(stored []byte) (gate.Net, bool) {
	var limit, form string
	var all []int64
	sound := rawjson.Elements(stored, func(value []byte, _ int) bool {
		var err error
		switch {
		case limit == "":
			limit, _ = rawjson.String(value)
		case form == "":
			form, _ = rawjson.String(value)
		default:
			var n int64
			n, err = strconv.ParseInt(string(value), 10, 64)
			all = append(all, n)
		}
		return err == nil
	})
	if !sound || limit == "" {
		return gate.Net{}, false
	}
	infos := c.policy.Nets()
	for i := range c.nets {
		if c.nets[i].limit != limit {
			continue
		}
		n, ok := renumbered(infos[i].Net, all)
		if !ok {
			continue
		}
		o := c.policy.Options()
		o.Shadow = false
		p, err := gate.NewPolicy([]gate.Net{n}, o)
		if err == nil && p.Nets()[0].Fingerprint[:printed/2] == form {
			return n, true
		}
	}
	return gate.Net{}, false
}
