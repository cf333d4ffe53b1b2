package policydiff

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
)

// The search cannot try all arguments of a call. Instead, a loose search replaces the nets that
// depend on arguments with more permissive variants, so that it covers at least the calls that the
// policies admit.

// readsData reports whether the state of the net depends on the arguments of calls.
func readsData(n gate.NetInfo) bool { return n.Sum != nil || n.Row || hasKey(n.Net) }

// lenient returns the variant of n for a loose search. The variant does not check arguments, and
// does not record values from results. If the state of n depends on arguments, the variant admits
// all calls.
func lenient(n gate.Net) gate.Net {
	n.Validate, n.OnSuccess = nil, nil
	if readsData(gate.NetInfo{Net: n}) {
		return permissive(n)
	}
	return n
}

// permissive returns a variant of n that admits all calls. The variant still lists the tools of n,
// because a policy with "default: deny" refuses calls to unlisted tools. It omits allowlists, and
// transitions that only observe calls.
func permissive(n gate.Net) gate.Net {
	place := []string{"p"}
	out := gate.Net{Name: n.Name, Places: place, Initial: map[string]int{"p": 1}, Free: n.Free, Mapper: n.Mapper, Labels: n.Labels, Maps: n.Maps, MatchFirst: n.MatchFirst}
	for _, t := range n.Transitions {
		if !t.Observe && len(t.Tools) > 0 {
			out.Transitions = append(out.Transitions, gate.Transition{Name: t.Name, Inputs: place, Outputs: place, Tools: t.Tools})
		}
	}
	return out
}

// hasKey reports whether the net has a key, and thus a separate marking for each value of the key.
func hasKey(n gate.Net) bool {
	return len(n.Key) > 0 || slices.ContainsFunc(n.Transitions, func(t gate.Transition) bool { return len(t.Key) > 0 })
}

// bounded reports whether n belongs to a pair of nets, one in each policy, that limit the same sum
// to different numbers. The policy with the lower limit must be the same as in the first pair,
// because [Comparison.explore] uses only the first pair to decide whether a witness is missing.
func (d *Comparison) bounded(n gate.NetInfo) bool {
	for _, pair := range d.sums {
		if pair[0].Name == n.Name || pair[1].Name == n.Name {
			return (pair[0].Sum.Most > pair[1].Sum.Most) == (d.sums[0][0].Sum.Most > d.sums[0][1].Sum.Most)
		}
	}
	return false
}

// sumPairs returns pairs of nets, one of each policy, that limit the same sum to different numbers.
// It omits nets whose limits cannot be compared, such as those with a key.
func (d *Comparison) sumPairs(alone []gate.Map) (pairs [][2]gate.NetInfo) {
	apart := d.unsharedNets()
	for i, a := range apart {
		if a.Sum == nil {
			continue
		}
		for _, b := range apart[i+1:] {
			old := slices.ContainsFunc(d.sides[0].nets, func(n gate.NetInfo) bool { return n.Name == a.Name && n.Fingerprint == a.Fingerprint })
			changed := slices.ContainsFunc(d.sides[1].nets, func(n gate.NetInfo) bool { return n.Name == b.Name && n.Fingerprint == b.Fingerprint })
			taken := slices.ContainsFunc(pairs, func(p [2]gate.NetInfo) bool { return p[0].Name == a.Name || p[1].Name == b.Name })
			if old && changed && !taken && b.Sum != nil && !a.Row && !hasKey(a.Net) && sameClass(a, b) && !reads(a, alone) && unlimited(a) == unlimited(b) {
				pairs = append(pairs, [2]gate.NetInfo{a, b})
			}
		}
	}
	return pairs
}

// unlimited returns a fingerprint of the net that ignores the limit of its sum: the fingerprint of
// a copy with the limit 1. If the copy is invalid, unlimited returns the fingerprint of the net
// itself.
func unlimited(n gate.NetInfo) string {
	one := n.Net
	sum := *n.Sum
	sum.Most = 1
	one.Sum = &sum
	return cmp.Or(fingerprint(one), n.Fingerprint)
}

// withAmounts adds copies of the calls with different amounts. If a net of only one policy limits a
// sum, the amounts are the limit and the limit plus one.
func (d *Comparison) withAmounts(calls []representative) []representative {
	all := calls
	for _, n := range d.unsharedNets() {
		if n.Sum == nil || n.Sum.Field.Reader != nil {
			continue
		}
		for _, c := range calls {
			for _, amount := range []int{n.Sum.Most, n.Sum.Most + 1} {
				var args map[string]any
				if json.Unmarshal([]byte(c.Args), &args) != nil || !setNumber(args, n.Sum.Field.Path, amount) {
					continue
				}
				if text, err := json.Marshal(args); err == nil {
					with := c
					with.Args = string(text)
					all = append(all, with)
				}
			}
		}
	}
	return all
}

// setNumber replaces the number at the given path in the arguments. It returns false if the path
// does not lead to a number.
func setNumber(args map[string]any, path string, to int) bool {
	keys := []string{path}
	if rest, ok := strings.CutPrefix(path, "$."); ok {
		keys = strings.Split(rest, ".")
	}
	for ; len(keys) > 1; keys = keys[1:] {
		inner, ok := args[keys[0]].(map[string]any)
		if !ok {
			return false
		}
		args = inner
	}
	if _, ok := args[keys[0]].(float64); !ok {
		return false
	}
	args[keys[0]] = to
	return true
}

// fieldOf reports whether the arguments contain the given field.
func fieldOf(args, field string) bool {
	var object map[string]json.RawMessage
	return json.Unmarshal([]byte(args), &object) == nil && object[field] != nil
}
