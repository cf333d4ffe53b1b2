package verify

import (
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/explore"
)

// matcher returns a function that reports whether a transition requires the approval described by
// a. It returns nil if every approval is acceptable.
func (a *Approval) matcher() func(*gate.Transition) bool {
	if a == nil || a.Count < 2 && a.Via == "" {
		return nil
	}
	return func(t *gate.Transition) bool {
		return max(1, t.Approvals) >= a.Count && (a.Via == "" || a.Via == t.Via)
	}
}

func (a NeverWithoutApproval) tools() []gate.Tool { return []gate.Tool{a.Tool} }

// anything is a pattern that matches all tools. An [Only] also concerns tools that no rule matches.
// With this pattern, the enumeration of tools includes them.
var anything = gate.Tool{Name: "***", Kind: gate.Glob}

func (a Only) tools() []gate.Tool { return append(slices.Clone(a.Tools), anything) }

func (a NeverWithoutApproval) prove(m *prover) Proof {
	return m.proveNeverMet(unaskedQuery(ownTagger(a.Tool), &a.Approval))
}

// unaskedQuery returns a query for a call that is admitted although the approval described by a was
// not requested.
func unaskedQuery(tag func(*callclass.Class) uint8, a *Approval) *explore.Query {
	return &explore.Query{
		Sole: -1, Tag: tag, Unasked: true, Asks: a.matcher(),
		Start: func(mon uint32, tag uint8, manual bool) (uint32, bool) {
			return mon, tag&explore.Wanted != 0 && !manual
		},
	}
}

func (a Only) prove(m *prover) Proof {
	other := explore.Tagger(func(s *callclass.Class) bool {
		return !s.Waits && s.TracksFirst() && !slices.ContainsFunc(a.Tools, s.CarriesCertainly)
	})
	if a.Unapproved == nil {
		return m.proveNeverMet(&explore.Query{Sole: -1, Tag: other})
	}
	return m.proveNeverMet(unaskedQuery(other, a.Unapproved))
}
