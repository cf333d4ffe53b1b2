package policytest

import (
	"cmp"
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy"
)

// Coverage lists the rules, maps and transitions of policies that tests have exercised.
type Coverage struct {
	Percent int     `json:"percent"` // percentage of items that were exercised, rounded down
	Done    int     `json:"done"`
	Total   int     `json:"total"`
	Missing []*Item `json:"missing"` // items that were not exercised, in the order of their positions

	Items []*Item `json:"-"`
}

// An Item is a rule, a map or a transition.
type Item struct {
	Kind Kind        `json:"kind"`
	Net  string      `json:"net,omitempty"`  // the net that the item belongs to; also set for transitions
	Name string      `json:"name,omitempty"` // name of a transition or label of a map
	Rule policy.Rule `json:"rule"`
	Hits int         `json:"-"`

	passive bool // the rule never blocks a call
}

// Kind is the kind of an [Item]. It determines when the item counts as exercised.
type Kind string

const (
	KindRule       Kind = "rule"       // exercised if it blocks a call or asks for approval; if it can do neither, exercised if it admits a call
	KindTransition Kind = "transition" // exercised if it fires
	KindMap        Kind = "map"        // exercised if it gives a call its label
)

type firing struct{ net, transition string }

// newCoverage counts the exercised items.
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

// A spoiler is a transition that acts on every admitted call of its tools, even if it was not
// chosen for the call.
type spoiler struct {
	item  *Item
	tools []gate.Tool
}

// A watch records which items of a policy are exercised.
type watch struct {
	items  []*Item
	policy *gate.Policy     // an instrumented copy of the policy, which reports when transitions fire
	chosen []firing         // transitions chosen for the current call
	rules  map[string]*Item // the rules, by net
	moves  map[firing]*Item
	maps   map[string][]*Item // the maps, by label
	spoils []spoiler
}

// hit counts one use of the item i, which may be nil.
func (i *Item) hit() {
	if i != nil {
		i.Hits++
	}
}
