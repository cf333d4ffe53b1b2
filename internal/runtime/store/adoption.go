package store

import (
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
)

// adoptionReport describes how the adoption of a policy affects the nets of each session and the
// nets that sessions share.
type adoptionReport []admission.Adopted

func (r *adoptionReport) add(k admission.Key, kept []gate.Kept) {
	if len(kept) > 0 {
		*r = append(*r, admission.Adopted{Key: k, Nets: kept})
	}
}

// compareAdopted orders reports by principal, then by session.
func compareAdopted(a, b admission.Adopted) int {
	return strings.Compare(a.Principal+"\x00"+a.Session, b.Principal+"\x00"+b.Session)
}

// adoptOptions converts an adoption to the options of [gate.Policy.Adopt].
func adoptOptions(a admission.Adoption) gate.AdoptOptions {
	return gate.AdoptOptions{Active: a.Active, Reset: a.Reset, Time: a.Time}
}

// filterScope returns the nets in the list that have the given scope. The scope comes from the new
// policy or, if the net was removed, from the old one. filterScope reuses the memory of the list.
func filterScope(kept []gate.Kept, from, to *gate.State, scope gate.Scope) []gate.Kept {
	scopes := map[string]gate.Scope{}
	for _, s := range []*gate.State{from, to} {
		for _, n := range s.Policy().Nets() {
			scopes[n.Name] = n.Scope
		}
	}
	return slices.DeleteFunc(kept, func(k gate.Kept) bool { return scopes[k.Net] != scope })
}
