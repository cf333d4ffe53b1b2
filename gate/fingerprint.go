package gate

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
)

// sortedKeys is a deterministic order of the keys.
func sortedKeys(m map[string]int) []string { return slices.Sorted(maps.Keys(m)) }

// identity is all that makes a net decide as it does, but for the code of Go
// functions and the texts of refusals.
type identity struct {
	Places      []string
	Initial     []int
	Free        []string
	Transitions []Transition
	Maps        []mapIdentity
	Labels      bool
	MatchFirst  bool
	Hooks       [3]bool
}

type mapIdentity struct{ Tool, Field, As, Source string }

func fingerprintNet(n *net) string {
	return hash(identity{
		Places: n.Places, Initial: n.initial, Free: n.Free, Transitions: n.Transitions,
		Maps: mapIdentities(n.Maps), Labels: n.Labels, MatchFirst: n.MatchFirst,
		Hooks: [3]bool{n.Mapper != nil, n.Validate != nil, n.OnSuccess != nil},
	})
}

func fingerprintPolicy(p *Policy, o PolicyOptions) string {
	type named struct{ Name, Print, Reason string }
	nets := make([]named, len(p.nets))
	for i, n := range p.nets {
		nets[i] = named{n.Name, n.print, n.Reason}
	}
	return hash(struct {
		Nets []named
		Maps []mapIdentity
		Deny bool
	}{nets, mapIdentities(o.Maps), o.Deny})
}

func mapIdentities(maps []Map) []mapIdentity {
	ids := make([]mapIdentity, len(maps))
	for i, m := range maps {
		ids[i] = mapIdentity{m.Tool, m.Field, m.As, m.Source}
	}
	return ids
}

// hash is the hexadecimal SHA-256 of the JSON form of plain data.
func hash(v any) string {
	doc, err := json.Marshal(v)
	if err != nil {
		panic("gate: a fingerprint of something that is not plain data")
	}
	sum := sha256.Sum256(doc)
	return hex.EncodeToString(sum[:])
}
