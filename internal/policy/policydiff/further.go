package policydiff

import (
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/list"
)

// Limits on the searches for further differences.
const (
	maxFurther       = 20    // number of searches
	maxFurtherStates = 1_000 // number of states visited by each search
)

// exploreFurther looks for further differences. Each search ignores the nets that caused the
// differences found so far. It can thus find a call that other nets decide differently, even if
// this takes a longer sequence of calls. exploreFurther ends when a search finds nothing new.
func (d *Comparison) exploreFurther() error {
	if d.Stricter == nil && d.Looser == nil {
		return nil
	}
	first := [2]*Witness{d.Stricter, d.Looser}
	defer func() { d.Stricter, d.Looser, d.hidden = first[0], first[1], [2][]string{} }()
	for range maxFurther {
		if d.hide(slices.Concat(d.more, first[:])); d.stop() || !d.further() {
			return nil
		}
		d.Stricter, d.Looser = nil, nil
		if _, err := d.find(d.states+maxFurtherStates, false); err != nil {
			return err
		}
		found := list.Filter([]*Witness{d.Stricter, d.Looser}, d.isNew)
		if len(found) == 0 {
			return nil
		}
		d.more = append(d.more, found...)
	}
	return nil
}

// hide makes the next search ignore the nets that caused the known differences. It also ignores
// nets of the other policy that differ from these only in numbers. If no differing net would be
// left, hide makes the search ignore no nets.
func (d *Comparison) hide(known []*Witness) {
	apart := [2][]gate.NetInfo{d.unsharedNetsOf(0), d.unsharedNetsOf(1)}
	caused := func(n gate.NetInfo) bool {
		return slices.ContainsFunc(known, func(w *Witness) bool { return w != nil && slices.Contains(w.by, n.Name) })
	}
	d.hidden = [2][]string{}
	left := false
	for i, nets := range apart {
		for _, n := range nets {
			twin := func(o gate.NetInfo) bool { return caused(o) && alike(o.Net, n.Net) }
			if caused(n) || slices.ContainsFunc(apart[1-i], twin) {
				d.hidden[i] = append(d.hidden[i], n.Name)
			} else {
				left = true
			}
		}
	}
	if !left {
		d.hidden = [2][]string{}
	}
}

// isNew reports whether w was caused by a net that the search did not ignore.
func (d *Comparison) isNew(w *Witness) bool {
	return w != nil && slices.ContainsFunc(w.by, func(net string) bool {
		return !slices.Contains(d.hidden[0], net) && !slices.Contains(d.hidden[1], net)
	})
}

// further reports whether the current search is for further differences.
func (d *Comparison) further() bool { return len(d.hidden[0])+len(d.hidden[1]) > 0 }
