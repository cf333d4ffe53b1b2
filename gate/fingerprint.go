package gate

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/petrigate/petrigate/internal/petri"
)

// sortedKeys returns the keys in a deterministic order.
func sortedKeys(m map[string]int) []string { return slices.Sorted(maps.Keys(m)) }

// identity has everything that determines the decisions of a net, except the code of
// Go functions and the texts of refusals.
type identity struct {
	Places      []string
	Initial     []int
	Free        []string
	Transitions []transitionIdentity
	Maps        []mapIdentity
	Labels      bool
	MatchFirst  bool
	Hooks       [3]bool
	Identity    string `json:",omitempty"`
	Scope       Scope
	Key         []fieldIdentity `json:",omitempty"`
	Row         bool            `json:",omitempty"`
	Sum         *sumIdentity    `json:",omitempty"`
	Phases      []phaseIdentity `json:",omitempty"`
}

type sumIdentity struct {
	Path, Source string
	Most         int
	Every        time.Duration
}

type phaseIdentity struct {
	Place string
	Tools []Tool
}

type transitionIdentity struct {
	Name                               string
	In, Out                            []petri.Arc
	Tools                              []Tool
	Manual, Deferred, Observe, Release bool
	Via                                string
	Unless                             []Tool
	Every                              time.Duration
	WeakProgress                       bool            `json:",omitempty"`
	Spoils                             bool            `json:",omitempty"`
	Approvals                          int             `json:",omitempty"`
	Key                                []fieldIdentity `json:",omitempty"`
}

// fieldIdentity says by its source what an expression reads.
type fieldIdentity struct {
	Path   string `json:",omitempty"`
	Source string `json:",omitempty"`
	Result bool   `json:",omitempty"`
}

func fieldIdentities(fields []Field) []fieldIdentity {
	var ids []fieldIdentity
	for _, f := range fields {
		id := fieldIdentity{Path: f.Path, Result: f.Result}
		if f.Reader != nil {
			id.Source = f.Source
		}
		ids = append(ids, id)
	}
	return ids
}

type mapIdentity struct {
	Tool, Field, As, Source string
	Glob                    bool `json:",omitempty"`
}

func fingerprintNet(n *net) string {
	ts := make([]transitionIdentity, len(n.Transitions))
	for i, t := range n.Transitions {
		ts[i] = transitionIdentity{
			Name: t.Name, In: n.net.Transitions[i].In, Out: n.net.Transitions[i].Out, Tools: solid(t.Tools),
			Manual: t.Manual, Deferred: t.Deferred, Observe: t.Observe, Release: t.Release,
			Via: t.Via, Unless: solid(t.Unless), Every: t.Every, WeakProgress: t.WeakProgress,
			Spoils: t.Spoils, Approvals: t.Approvals, Key: fieldIdentities(t.Key),
		}
	}
	id := identity{
		Places: solid(n.Places), Initial: n.initial, Free: solid(n.Free), Transitions: ts,
		Maps: mapIdentities(n.Maps), Labels: n.Labels != nil, MatchFirst: n.MatchFirst,
		Hooks:    [3]bool{n.Mapper != nil, n.Validate != nil, n.OnSuccess != nil},
		Identity: n.Identity, Scope: n.Scope, Row: n.Row, Key: fieldIdentities(n.Key),
	}
	if n.Sum != nil {
		id.Sum = &sumIdentity{Path: n.Sum.Field.Path, Source: n.Sum.Field.Source, Most: n.Sum.Most, Every: n.Sum.Every}
	}
	for _, ph := range n.Phases {
		id.Phases = append(id.Phases, phaseIdentity{Place: ph.Place, Tools: solid(ph.Tools)})
	}
	return hash(id)
}

func fingerprintPolicy(p *Policy, maps []Map) string {
	type named struct {
		Name, Print, Reason string
		Shadow              bool           `json:",omitempty"`
		Priority            int            `json:",omitempty"`
		Advisory            bool           `json:",omitempty"`
		Recovery            map[string]int `json:",omitempty"`
	}
	nets := make([]named, len(p.nets))
	for i, n := range p.nets {
		nets[i] = named{n.Name, n.print, n.Reason, n.Shadow, n.Priority, n.Advisory, n.Recovery}
	}
	return hash(struct {
		Nets   []named
		Maps   []mapIdentity
		Deny   bool
		Shadow bool `json:",omitempty"`
		Keys   int  `json:",omitempty"`
	}{nets, mapIdentities(maps), p.deny, p.shadow, p.keep()})
}

// keep returns how many values a net keeps, if that is not what it usually is and
// there is such a net.
func (p *Policy) keep() int {
	if len(p.keys) == 0 || p.most == defaultKeys {
		return 0
	}
	return p.most
}

func mapIdentities(maps []Map) []mapIdentity {
	ids := make([]mapIdentity, len(maps))
	for i, m := range maps {
		ids[i] = mapIdentity{m.Tool, m.Field, m.As, m.Source, m.Glob}
	}
	return ids
}

// solid returns s, but never nil: an empty list and nil are the same.
func solid[T any](s []T) []T { return append([]T{}, s...) }

// hash is the hexadecimal SHA-256 of the JSON form of plain data.
func hash(v any) string {
	doc, err := json.Marshal(v)
	if err != nil {
		panic("gate: a fingerprint of something that is not plain data")
	}
	sum := sha256.Sum256(doc)
	return hex.EncodeToString(sum[:])
}
