package gate

import (
	"slices"

	"github.com/petrigate/petrigate/gate/internal/listing"
	"github.com/petrigate/petrigate/internal/petri"
)

// chooseEvidence chooses the Evidence transitions that the success of the call will fire for later calls:
// those that are enabled after the transitions that gate the call have fired.
func (f *finding) chooseEvidence(spared []int) {
	var after petri.Marking
	for i := range f.labels {
		lists, free := f.net.listing.Lookup(&f.labels[i])
		if free || f.labels[i].Weak {
			continue
		}
		lists = listing.Without(lists, spared)
		if f.keyed != nil {
			lists = f.withValue(lists)
		}
		for _, t := range lists {
			if !f.net.Transitions[t].Evidence || f.chosen(t) || f.spoiled(t) {
				continue
			}
			if after == nil {
				after = f.markingAfter()
			}
			if f.net.net.Transitions[t].Enabled(after) {
				f.choose(t, i)
			}
		}
	}
}

// markingAfter returns the marking after the admission of the call: the chosen transitions, which are not
// observers, have consumed their tokens and, unless deferred, produced their outputs.
func (f *finding) markingAfter() petri.Marking {
	m := petri.Marking(slices.Clone(f.data.Marking))
	for _, c := range f.choices {
		if t := &f.net.net.Transitions[c.transition]; f.net.Transitions[c.transition].Deferred {
			t.Take(m)
		} else {
			t.Fire(m)
		}
	}
	return m
}
