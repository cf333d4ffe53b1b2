package policydiff

import (
	"fmt"
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/list"
)

// conditions compares the success conditions of the two policies, because the search ignores them.
// If only one policy has a condition, the comparison is incomplete, and the difference that the
// condition might cause is considered possible.
func (d *Comparison) conditions() {
	from, to := d.sides[0].whole.Successes(), d.sides[1].whole.Successes()
	added, gone := lacked(to, from), lacked(from, to)
	if added == nil && gone == nil {
		return
	}
	d.none[0] = added == nil && (d.none[0] || d.Complete && d.Stricter == nil)
	d.none[1] = gone == nil && (d.none[1] || d.Complete && d.Looser == nil)
	for _, c := range []*gate.Condition{gone, added} {
		if c != nil {
			d.partly(fmt.Sprintf("only one of the policies has: success %s when %q", c.Tool, c.Source))
		}
	}
}

// lacked returns the first condition in the first list that is missing from the second list. If the
// second list contains all of them, lacked returns nil.
func lacked(some, others []gate.Condition) *gate.Condition {
	return list.Find(some, func(c gate.Condition) bool {
		return !slices.ContainsFunc(others, func(o gate.Condition) bool { return o.Tool == c.Tool && o.Glob == c.Glob && o.Source == c.Source })
	})
}
