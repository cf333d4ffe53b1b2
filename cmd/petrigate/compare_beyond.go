package main

import (
	"fmt"
	"slices"

	"github.com/petrigate/petrigate/gate"
)

// beyond is what the nets that are not the same do besides deciding the calls
// of one session by their names; empty if that is all. Where they do more,
// nothing is said to be alike.
func (d *comparison) beyond() string {
	for _, n := range d.apart() {
		manual := func(t gate.Transition) bool { return t.Via != "" }
		switch {
		case n.Validate != nil:
			return fmt.Sprintf("%s judges arguments, and those are not compared", n.Name)
		case n.Scope != gate.ScopeSession:
			return fmt.Sprintf("%s counts for several sessions, and one is looked at", n.Name)
		case slices.ContainsFunc(n.Transitions, manual):
			return fmt.Sprintf("%s says by which channel a person is asked, and that is not compared", n.Name)
		}
	}
	return ""
}

// apart are the nets that only one of the policies has.
func (d *comparison) apart() []gate.NetInfo {
	var out []gate.NetInfo
	for i, s := range []*side{d.old, d.new} {
		for _, n := range s.nets {
			if !slices.ContainsFunc(d.pairs, func(t twin) bool { return [2]string{t.old, t.new}[i] == n.Name }) {
				out = append(out, n)
			}
		}
	}
	return out
}
