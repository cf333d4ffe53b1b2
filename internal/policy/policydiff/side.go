package policydiff

import (
	"maps"
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/gate/toolnet"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/verify"
	"github.com/petrigate/petrigate/internal/toolname"
)

// A Side is one of the two compared policies.
type Side struct {
	nets   []gate.NetInfo // nets that are active and enforced
	labels []*gate.Labels
	maps   []gate.Map // map statements that assign names to calls
	deny   bool
	shadow bool // whether the policy is in shadow mode and thus refuses nothing

	configured bool // whether owners holds the servers of the policy's configuration; if false, any servers may exist
	owners     toolname.Owners

	tools []verify.Tool // known tools, in addition to those that the names in the policy imply
	whole *gate.Policy  // the policy built from nets
}

// NewSide returns one side of a comparison: the policy r, which was built from s.
func NewSide(r *policy.Result, s policy.Source) (*Side, error) {
	o := r.Policy.Options()
	out := &Side{
		labels: o.Labels, maps: r.Policy.Maps(), deny: o.Deny, shadow: s.Mode == "shadow",
		configured: s.Config != nil, owners: policy.Owners(s.Config),
	}
	out.nets = list.Filter(r.Policy.Nets(), func(n gate.NetInfo) bool {
		return !n.Shadow && (r.Active == nil || slices.Contains(r.Active, n.Name))
	})
	return out, out.compile()
}

func (s *Side) compile() (err error) {
	s.whole, err = s.buildPolicy(func(gate.NetInfo) bool { return true }, func(n gate.Net) gate.Net { return n })
	return err
}

// emptyIfShadow removes all nets from the policy if it is in shadow mode and the other policy is
// enforced. A policy in shadow mode refuses nothing.
func (s *Side) emptyIfShadow(other *Side) error {
	if !s.shadow || other.shadow {
		return nil
	}
	s.nets, s.deny = nil, false
	return s.compile()
}

// buildPolicy builds a policy from the nets accepted by wanted. It converts each of them with seen.
func (s *Side) buildPolicy(wanted func(gate.NetInfo) bool, seen func(gate.Net) gate.Net) (*gate.Policy, error) {
	nets := list.Map(list.Filter(s.nets, wanted), func(n gate.NetInfo) gate.Net { return seen(n.Net) })
	return gate.NewPolicy(nets, gate.PolicyOptions{Labels: s.labels, Deny: s.deny})
}

// yields reports whether the policy has an advisory net. Such a net may admit a call that it would
// otherwise block; see [gate.Net].Advisory.
func (s *Side) yields() bool {
	return slices.ContainsFunc(s.nets, func(n gate.NetInfo) bool { return n.Advisory })
}

// A sharedNet is a net that both policies have. It consists of the net's names in the old and the
// new policy. Such a net makes no difference by itself, so the search omits it until a difference
// depends on it.
type sharedNet [2]string

// sharedNets returns the nets that both policies have. It omits nets that use names assigned by the
// given map statements, which only one policy has.
func sharedNets(from, to *Side, alone []gate.Map) []sharedNet {
	taken := make(map[string]bool)
	var pairs []sharedNet
	for _, a := range from.nets {
		for _, b := range to.nets {
			if a.Fingerprint == b.Fingerprint && (a.Labels == nil) == (b.Labels == nil) && a.Scope == b.Scope && a.Shadow == b.Shadow && sameClass(a, b) && !taken[b.Name] && !reads(a, alone) {
				taken[b.Name] = true
				pairs = append(pairs, sharedNet{a.Name, b.Name})
				break
			}
		}
	}
	return pairs
}

// sameClass reports whether the two nets agree in the fields Advisory, Priority and Recovery.
func sameClass(a, b gate.NetInfo) bool {
	return a.Advisory == b.Advisory && a.Priority == b.Priority && maps.Equal(a.Recovery, b.Recovery)
}

// reads reports whether the net mentions a name that one of the map statements assigns. It returns
// false if map statements do not apply to the net.
func reads(n gate.NetInfo, maps []gate.Map) bool {
	return n.Labels != nil && slices.ContainsFunc(maps, func(m gate.Map) bool { return speaksOf(n, m.As) })
}

// speaksOf reports whether net n lists the given name or uses it in an exemption.
func speaksOf(n gate.NetInfo, name string) bool {
	is := func(tool gate.Tool) bool {
		return tool.Name == name || tool.Except == name || tool.Kind == gate.Glob && toolnet.MatchGlob(tool.Name, name)
	}
	return slices.ContainsFunc(mentioned(n), is)
}

// mentioned returns all tools that the net lists or uses in an exemption.
func mentioned(n gate.NetInfo) []gate.Tool {
	listed := list.FlatMap(n.Transitions, func(t gate.Transition) []gate.Tool { return slices.Concat(t.Tools, t.Unless) })
	allowed := list.FlatMap(n.Phases, func(p gate.Phase) []gate.Tool { return p.Tools })
	return slices.Concat(listed, allowed, gate.Tools(n.Free...))
}

// unsharedMaps returns the maps that only one of the sides has.
func unsharedMaps(from, to *Side) []gate.Map {
	without := func(s, other *Side) []gate.Map {
		return list.Filter(s.maps, func(m gate.Map) bool { return !hasMap(other.maps, m) })
	}
	return append(without(from, to), without(to, from)...)
}

func hasMap(maps []gate.Map, a gate.Map) bool {
	return slices.ContainsFunc(maps, func(b gate.Map) bool {
		return a.Tool == b.Tool && a.Glob == b.Glob && a.Field == b.Field && a.As == b.As && a.Source == b.Source && (a.Reader == nil) == (b.Reader == nil)
	})
}
