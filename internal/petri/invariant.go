package petri

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// An Invariant is a place invariant: a weighted sum of tokens that no transition changes. All
// weights are positive, and Weights is sorted by place.
type Invariant struct {
	Weights  []Arc
	Constant int // weighted sum in the initial marking
}

// Limits on the effort spent on invariants, whose number can be exponential.
const (
	maxRows          = 400
	maxInvariantWork = 40_000_000
	maxFarkasCells   = 30_000_000 // maximum total length of the rows at the start of Farkas's algorithm
	maxWeight        = math.MaxInt32
)

// Invariants computes a net's minimal place invariants (semiflows) with Farkas's algorithm. Because
// the effort is limited, the list may be incomplete, but every invariant in it holds. Invariants
// also reports whether the list contains every invariant with minimal support.
//
// If the net is too large for the algorithm, Invariants returns the places that no transition
// changes.
func Invariants(n *Net, initial Marking) (found []Invariant, all bool) {
	columns := distinctEffects(n)
	if n.Places*(n.Places+len(columns)) > maxFarkasCells {
		return constantPlaces(n, initial, columns), false
	}
	f := newFarkas(n, columns)
	for f.eliminate() {
	}
	for _, r := range f.rows {
		if slices.ContainsFunc(r.effect, func(e int) bool { return e != 0 }) {
			continue
		}
		inv := Invariant{}
		for place, w := range r.weights {
			if w > 0 {
				inv.Weights = append(inv.Weights, Arc{Place: place, Weight: w})
				inv.Constant += w * initial[place]
			}
		}
		found = append(found, inv)
	}
	slices.SortFunc(found, func(a, b Invariant) int {
		return cmp.Or(cmp.Compare(len(a.Weights), len(b.Weights)), slices.CompareFunc(a.Weights, b.Weights,
			func(x, y Arc) int { return cmp.Or(cmp.Compare(x.Place, y.Place), cmp.Compare(x.Weight, y.Weight)) }))
	})
	return found, !f.cut
}

// invariantBounds returns an upper bound for the token count in each place, derived from the
// invariants. A bound is -1 if it is unknown.
func invariantBounds(places int, invariants []Invariant) []int {
	bounds := slices.Repeat([]int{-1}, places)
	for _, inv := range invariants {
		for _, a := range inv.Weights {
			if b := inv.Constant / a.Weight; bounds[a.Place] < 0 || b < bounds[a.Place] {
				bounds[a.Place] = b
			}
		}
	}
	return bounds
}

// farkas is the state of Farkas's algorithm. Its rows are linear combinations of places. The
// algorithm eliminates one column after the other: it adds pairs of rows with opposite signs in the
// column, so that the column becomes 0, and drops the original rows.
type farkas struct {
	rows []farkasRow
	open []int // columns that are nonzero in at least one row
	work int
	cut  bool // whether any row was omitted because of a limit
}

type farkasRow struct {
	numbers []int    // backing array of effect and weights
	effect  []int    // changes to the weighted sum, one for each distinct effect of the transitions
	weights []int    // weight of each place
	support []uint64 // bit set of the places with a nonzero weight
}

func newRow(columns, places int) farkasRow {
	n := make([]int, columns+places)
	return farkasRow{numbers: n, effect: n[:columns], weights: n[columns:], support: make([]uint64, (places+63)/64)}
}

// constantPlaces returns an invariant for each place that no transition changes.
func constantPlaces(n *Net, initial Marking, columns [][]Arc) (found []Invariant) {
	moved := make([]bool, n.Places)
	for _, effect := range columns {
		for _, a := range effect {
			moved[a.Place] = true
		}
	}
	for place, yes := range moved {
		if !yes {
			found = append(found, Invariant{Weights: []Arc{{Place: place, Weight: 1}}, Constant: initial[place]})
		}
	}
	return found
}

func newFarkas(n *Net, columns [][]Arc) *farkas {
	f := &farkas{rows: make([]farkasRow, n.Places)}
	for place := range f.rows {
		r := newRow(len(columns), n.Places)
		r.weights[place] = 1
		r.support[place/64] |= 1 << (place % 64)
		f.rows[place] = r
	}
	for c, effect := range columns {
		for _, a := range effect {
			f.rows[a.Place].effect[c] = a.Weight
		}
		f.open = append(f.open, c)
	}
	return f
}

// distinctEffects returns the distinct effects of the transitions on the places. Effects that
// differ only in sign count as equal. Effects are stored sparsely, because a net with many places
// also has many transitions.
func distinctEffects(n *Net) [][]Arc {
	var columns [][]Arc
	seen := make(map[string]bool)
	var key []byte
	for i := range n.Transitions {
		effect := n.Transitions[i].effect()
		if len(effect) == 0 {
			continue
		}
		key = key[:0]
		sign := cmp.Compare(effect[0].Weight, 0)
		for k := range effect {
			effect[k].Weight *= sign
			key = binary.AppendVarint(binary.AppendUvarint(key, uint64(effect[k].Place)), int64(effect[k].Weight))
		}
		if !seen[string(key)] {
			seen[string(key)] = true
			columns = append(columns, effect)
		}
	}
	return columns
}

// effect returns how firing t changes each place, in place order.
func (t *Transition) effect() []Arc {
	var effect []Arc
	for _, a := range t.In {
		if w := weight(t.Out, a.Place) - a.Weight; w != 0 {
			effect = append(effect, Arc{a.Place, w})
		}
	}
	for _, a := range t.Out {
		if weight(t.In, a.Place) == 0 {
			effect = append(effect, a)
		}
	}
	slices.SortFunc(effect, func(a, b Arc) int { return cmp.Compare(a.Place, b.Place) })
	return effect
}

// eliminate chooses another column and makes it 0 in all rows. It reports whether there may be more
// columns to eliminate.
func (f *farkas) eliminate() bool {
	column, ok := f.cheapest()
	if !ok {
		return false
	}
	var rest, plus, minus []farkasRow
	for _, r := range f.rows {
		switch e := r.effect[column]; {
		case e > 0:
			plus = append(plus, r)
		case e < 0:
			minus = append(minus, r)
		default:
			rest = append(rest, r)
		}
	}
	for i := range plus {
		for j := range minus {
			if f.work > maxInvariantWork {
				f.cut, f.rows = true, rest
				return false
			}
			if r, ok := f.combine(&plus[i], &minus[j], column); ok {
				rest = f.addMinimal(rest, r)
			}
		}
	}
	f.rows = rest
	return true
}

// cheapest returns the column whose elimination creates the fewest rows. It also removes from
// f.open all columns that are 0 in every row.
func (f *farkas) cheapest() (column int, ok bool) {
	best := math.MaxInt
	open := f.open[:0]
	for _, c := range f.open {
		plus, minus := 0, 0
		for i := range f.rows {
			if e := f.rows[i].effect[c]; e > 0 {
				plus++
			} else if e < 0 {
				minus++
			}
		}
		if plus+minus == 0 {
			continue
		}
		open = append(open, c)
		if cost := plus*minus - plus - minus; cost < best {
			best, column = cost, c
		}
	}
	f.work += len(f.open) * len(f.rows)
	f.open = open
	if f.work > maxInvariantWork {
		f.cut = true
		return 0, false
	}
	return column, len(open) > 0
}

// combine adds positive multiples of the two rows so that the given column becomes 0. It fails if a
// number becomes too large.
func (f *farkas) combine(a, b *farkasRow, column int) (farkasRow, bool) {
	f.work += len(a.numbers)
	x, y := -b.effect[column], a.effect[column]
	g := gcd(x, y)
	x, y = x/g, y/g
	r := newRow(len(a.effect), len(a.weights))
	g = 0
	for i := range r.numbers {
		r.numbers[i] = x*a.numbers[i] + y*b.numbers[i]
		g = gcd(g, r.numbers[i])
	}
	for i := range r.numbers {
		if r.numbers[i] /= g; max(r.numbers[i], -r.numbers[i]) > maxWeight {
			f.cut = true
			return farkasRow{}, false
		}
	}
	for w := range r.support {
		r.support[w] = a.support[w] | b.support[w]
	}
	return r, true
}

// addMinimal adds the row r unless its support contains the support of another row. It drops the
// rows whose support contains that of r. If there are too many rows, it drops the row with the
// largest support.
func (f *farkas) addMinimal(rows []farkasRow, r farkasRow) []farkasRow {
	f.work += len(rows) * len(r.support)
	for i := range rows {
		if subset(rows[i].support, r.support) {
			return rows
		}
	}
	rows = slices.DeleteFunc(rows, func(o farkasRow) bool { return subset(r.support, o.support) })
	rows = append(rows, r)
	if len(rows) > maxRows {
		f.cut = true
		longest := 0
		for i := range rows {
			if supportSize(rows[i].support) > supportSize(rows[longest].support) {
				longest = i
			}
		}
		rows = slices.Delete(rows, longest, longest+1)
	}
	return rows
}

// subset reports whether a is a subset of b.
func subset(a, b []uint64) bool {
	for w := range a {
		if a[w]&^b[w] != 0 {
			return false
		}
	}
	return true
}

func supportSize(support []uint64) int {
	n := 0
	for _, w := range support {
		n += bits.OnesCount64(w)
	}
	return n
}

// gcd returns the greatest common divisor of a and b. The result is never negative.
func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return max(a, -a)
}

// Text returns the invariant as an equation over place names, such as "idle + 2 busy = 3".
func (inv Invariant) Text(places []string) string {
	terms := make([]string, len(inv.Weights))
	for i, w := range inv.Weights {
		if w.Weight > 1 {
			terms[i] = strconv.Itoa(w.Weight) + " "
		}
		terms[i] += places[w.Place]
	}
	return fmt.Sprintf("%s = %d", strings.Join(terms, " + "), inv.Constant)
}
