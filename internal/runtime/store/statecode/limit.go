package statecode

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/rawjson"
)

// withNumbers returns a copy of the net and replaces the numbers in the copy with the given ones;
// see [limitNumbers]. It returns false if there are too few or too many numbers.
func withNumbers(n gate.Net, all []int64) (gate.Net, bool) {
	if len(all) != len(limitNumbers(&n)) {
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

// oldLimit reconstructs a limit of the policy that was in force when the part of the state was
// written. The current policy must have a limit on the same calls that differs from the old limit
// only in its numbers. Otherwise, oldLimit returns false.
func (c *Codec) oldLimit(stored []byte) (gate.Net, bool) {
	var limit, form string
	var all []int64
	valid := rawjson.Elements(stored, func(value []byte, _ int) bool {
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
	if !valid || limit == "" {
		return gate.Net{}, false
	}
	infos := c.policy.Nets()
	for i := range c.nets {
		if c.nets[i].limit != limit {
			continue
		}
		n, ok := withNumbers(infos[i].Net, all)
		if !ok {
			continue
		}
		o := c.policy.Options()
		o.Shadow = false
		p, err := gate.NewPolicy([]gate.Net{n}, o)
		if err == nil && p.Nets()[0].Fingerprint[:fingerprintDigits/2] == form {
			return n, true
		}
	}
	return gate.Net{}, false
}
