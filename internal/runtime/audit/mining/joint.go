package mining

import (
	"slices"

	"github.com/petrigate/petrigate/internal/list"
)

// maxParts is the maximum number of one-field rules per pair of calls that [Miner.jointCandidates]
// combines.
const maxParts = 4

// jointCandidates returns rules that require two fields to have the same values in both calls. It
// combines rules about a single field that the log supports.
func (m *Miner) jointCandidates(candidates []*candidate, tried int) (all []*candidate) {
	supported := list.Filter(candidates, func(c *candidate) bool { return c.alt < 0 && c.supported(m.least, tried) })
	for p, of := range groupBy(supported, func(c *candidate) pair { return c.pair }) {
		slices.SortStableFunc(of, compareKeys)
		of = of[:min(len(of), maxParts)]
		for i, c := range of {
			for _, d := range of[i+1:] {
				if c.first == d.first || c.then == d.then {
					continue
				}
				one, two := c, d
				if two.first < one.first {
					one, two = two, one
				}
				all = append(all, &candidate{pair: p, alt: -1, first: one.first + joined + two.first, then: one.then + joined + two.then, parts: []*candidate{one, two}})
			}
		}
	}
	return all
}
