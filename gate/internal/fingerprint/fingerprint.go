// Package fingerprint computes hashes of nets and policies, to find out whether a net or a policy
// has changed. A hash omits some parts that decisions depend on, such as the code of Go functions.
package fingerprint

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/petrigate/petrigate/gate/toolnet"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/petri"
)

// identity contains the parts of a net that its fingerprint covers. It omits the code of Go
// functions, the refusal texts, the policy's labels, the net's name, the options in [NetOfPolicy],
// and the fields Terminal, Cause, AllowUnbounded and Static. It also omits Transition.Evidence and
// Tool.Spared, so that adding these fields did not change any fingerprint.
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
	Scope       toolnet.Scope
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
	Tools []toolnet.Tool
}

type transitionIdentity struct {
	Name                               string
	In, Out                            []petri.Arc
	Tools                              []toolnet.Tool
	Manual, Deferred, Observe, Release bool
	Via                                string
	Unless                             []toolnet.Tool
	Every                              time.Duration
	WeakProgress                       bool            `json:",omitempty"`
	Spoils                             bool            `json:",omitempty"`
	Approvals                          int             `json:",omitempty"`
	Key                                []fieldIdentity `json:",omitempty"`
}

// fieldIdentity identifies a field. An expression is identified by its source.
type fieldIdentity struct {
	Path   string `json:",omitempty"`
	Source string `json:",omitempty"`
	Result bool   `json:",omitempty"`
}

func fieldIdentities(fields []toolnet.Field) []fieldIdentity {
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

// Net returns a net's fingerprint. It covers the net's structure, its map entries, and most of its
// options. It does not cover the code of Go functions, the refusal texts, the net's name, or the
// options in [NetOfPolicy]. The net must be free of errors.
func Net(n *toolnet.Net) string {
	structure, initial := n.Structure()
	ts := make([]transitionIdentity, len(n.Transitions))
	for i, t := range n.Transitions {
		ts[i] = transitionIdentity{
			Name: t.Name, In: structure.Transitions[i].In, Out: structure.Transitions[i].Out, Tools: nonNil(t.Tools),
			Manual: t.Manual, Deferred: t.Deferred, Observe: t.Observe, Release: t.Release,
			Via: t.Via, Unless: nonNil(t.Unless), Every: t.Every, WeakProgress: t.WeakProgress,
			Spoils: t.Spoils, Approvals: t.Approvals, Key: fieldIdentities(t.Key),
		}
	}
	id := identity{
		Places: nonNil(n.Places), Initial: initial, Free: nonNil(n.Free), Transitions: ts,
		Maps: mapIdentities(n.Maps), Labels: n.Labels != nil, MatchFirst: n.MatchFirst,
		Hooks:    [3]bool{n.Mapper != nil, n.Validate != nil, n.OnSuccess != nil},
		Identity: n.Identity, Scope: n.Scope, Row: n.Row, Key: fieldIdentities(n.Key),
	}
	if n.Sum != nil {
		id.Sum = &sumIdentity{Path: n.Sum.Field.Path, Source: n.Sum.Field.Source, Most: n.Sum.Most, Every: n.Sum.Every}
	}
	id.Phases = list.Map(n.Phases, func(ph toolnet.Phase) phaseIdentity { return phaseIdentity{ph.Place, nonNil(ph.Tools)} })
	return hash(id)
}

// A Policy is the input for a policy's fingerprint: everything that determines the policy's
// decisions.
type Policy struct {
	AskDoubts bool
	Nets      []NetOfPolicy
	Maps      []toolnet.Map
	Successes []toolnet.Condition
	Deny      bool
	Shadow    bool
	Keys      int // maximum number of key values in a net; 0 if it is the default or no net has a key

	Ignored []toolnet.Ignored
}

// A NetOfPolicy is a net's contribution to a policy's fingerprint: its name, its own fingerprint,
// its refusal reason, and the options that apply to it.
type NetOfPolicy struct {
	Name, Print, Reason string
	Because             string         `json:",omitempty"`
	Shadow              bool           `json:",omitempty"`
	Priority            int            `json:",omitempty"`
	Advisory            bool           `json:",omitempty"`
	Recovery            map[string]int `json:",omitempty"`
}

// Print returns the policy's fingerprint.
func (p *Policy) Print() string {
	return hash(struct {
		Nets      []NetOfPolicy
		Maps      []mapIdentity
		Deny      bool
		Shadow    bool              `json:",omitempty"`
		Keys      int               `json:",omitempty"`
		Successes []successIdentity `json:",omitempty"`

		Ignored   []toolnet.Ignored `json:",omitempty"`
		AskDoubts bool              `json:",omitempty"`
	}{p.Nets, mapIdentities(p.Maps), p.Deny, p.Shadow, p.Keys, successIdentities(p.Successes), p.Ignored, p.AskDoubts})
}

type successIdentity struct {
	Tool, Source string
	Glob         bool `json:",omitempty"`
}

func successIdentities(all []toolnet.Condition) []successIdentity {
	return list.Map(all, func(c toolnet.Condition) successIdentity { return successIdentity{c.Tool, c.Source, c.Glob} })
}

func mapIdentities(maps []toolnet.Map) []mapIdentity {
	ids := make([]mapIdentity, len(maps))
	for i, m := range maps {
		ids[i] = mapIdentity{m.Tool, m.Field, m.As, m.Source, m.Glob}
	}
	return ids
}

// nonNil returns a copy of s that is never nil, so that nil and empty lists have equal fingerprints.
func nonNil[T any](s []T) []T { return append([]T{}, s...) }

// hash returns the hexadecimal SHA-256 hash of plain data in JSON.
func hash(v any) string {
	doc, err := json.Marshal(v)
	if err != nil {
		panic("fingerprint: the value is not plain data")
	}
	sum := sha256.Sum256(doc)
	return hex.EncodeToString(sum[:])
}
