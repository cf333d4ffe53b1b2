package verify

import (
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/explore"
)

func (a Never) tools() []gate.Tool       { return []gate.Tool{a.Tool} }
func (a NeverBefore) tools() []gate.Tool { return []gate.Tool{a.Tool, a.First} }

func (a Never) prove(m *prover) Proof {
	own := func(s *callclass.Class) bool { return s.Carries(a.Tool, false) && m.hasTrackedValue(s) }
	return m.proveNeverMet(&explore.Query{Tag: explore.Tagger(own), Sole: -1})
}

// prove looks for a run that admits a call to Tool in monitor state 0. The success of a call to
// First leads to state 1, where calls to Tool are permitted. Unless Once is set, the next call to
// Tool leads back to state 0.
func (a NeverBefore) prove(m *prover) Proof {
	tools := tagger([]gate.Tool{a.Tool}, nil, []gate.Tool{a.First})
	return m.proveNeverMet(&explore.Query{
		Sole: -1,
		Tag: func(s *callclass.Class) uint8 {
			tag := tools(s)
			if tag&explore.Wanted != 0 {
				tag |= repeatTag
				if !m.hasTrackedValue(s) {
					tag &^= explore.Wanted
				}
			}
			return tag
		},
		Start: func(mon uint32, tag uint8, _ bool) (uint32, bool) {
			if tag&repeatTag == 0 {
				return mon, false
			}
			hit := tag&explore.Wanted != 0 && mon == 0
			if a.Once {
				return mon, hit
			}
			return 0, hit
		},
		Done: onSuccess(1),
	})
}
