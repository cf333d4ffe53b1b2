package policytest

import (
	"cmp"
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy"
)

// Coverage reports which items of the tested policies were exercised. The items are rules,
// hand-written nets, transitions, map statements and map entries.
type Coverage struct {
	Percent int     `json:"percent"` // percentage of exercised items, rounded down
	Done    int     `json:"done"`
	Total   int     `json:"total"`
	Missing []*Item `json:"missing"` // items not exercised, sorted by position

	Items []*Item `json:"-"`
}

// An Item is a rule, a hand-written net, a transition, a map statement in rules, or a map entry in
// a net. Coverage counts how often each Item is exercised.
type Item struct {
	Kind Kind        `json:"kind"`
	Net  string      `json:"net,omitempty"`  // name of the net that contains the item; empty for a map statement
	Name string      `json:"name,omitempty"` // name of the transition, or the name assigned by the map statement or map entry; empty for a rule or a net
	Rule policy.Rule `json:"rule"`
	Hits int         `json:"-"`

	passive bool // whether the rule can never block a call
}

// Kind is the kind of an [Item]. It determines when the item counts as exercised.
type Kind string

const (
	KindRule       Kind = "rule"       // exercised if it blocks a call or asks for approval; a rule that can do neither is exercised if it admits a call
	KindTransition Kind = "transition" // exercised if it fires
	KindMap        Kind = "map"        // map statement or map entry; exercised if a call gets the name that it assigns
)

type firing struct{ net, transition string }

// newCoverage computes the coverage from the hit counts of the items.
func newCoverage(items []*Item) *Coverage {
	c := &Coverage{Percent: 100, Total: len(items), Missing: []*Item{}, Items: items}
	c.Missing = append(c.Missing, list.Filter(items, func(i *Item) bool { return i.Hits == 0 })...)
	if c.Done = c.Total - len(c.Missing); c.Total > 0 {
		c.Percent = c.Done * 100 / c.Total
	}
	slices.SortStableFunc(c.Missing, func(a, b *Item) int {
		return cmp.Or(cmp.Compare(a.Rule.File, b.Rule.File), cmp.Compare(a.Rule.Line, b.Rule.Line))
	})
	return c
}

// A spoiler is a transition that undoes earlier successes. Afterwards, the calls that a rule
// requires must succeed again. A spoiler is exercised when a call to one of its tools is admitted.
type spoiler struct {
	item  *Item
	tools []gate.Tool
}

// A watch counts how often each item of a policy is exercised.
type watch struct {
	items  []*Item
	policy *gate.Policy     // copy of the policy, instrumented to report fired transitions
	chosen []firing         // transitions chosen for the current call
	rules  map[string]*Item // items of rules, keyed by net name
	moves  map[firing]*Item
	maps   map[string][]*Item // map statements and map entries, keyed by the name they assign
	spoils []spoiler
}

// hit increments the count of item i, unless i is nil.
func (i *Item) hit() {
	if i != nil {
		i.Hits++
	}
}
