package verify

import (
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/explore"
)

func (a NeverAfter) tools() []gate.Tool { return append([]gate.Tool{a.Tool, a.After}, a.Until...) }

// prove looks for a run that admits a call to Tool after a call to After. The monitor is in state 1
// while a call to Tool would violate the claim. It enters state 1 when a call to After is admitted,
// and leaves it when a call to a tool in Until succeeds.
func (a NeverAfter) prove(m *prover) Proof {
	tools := tagger([]gate.Tool{a.Tool}, []gate.Tool{a.After}, a.Until)
	return m.proveNeverMet(&explore.Query{
		Sole: -1,
		Tag: func(s *callclass.Class) uint8 {
			if !m.hasTrackedValue(s) {
				return tools(s) &^ explore.Wanted
			}
			return tools(s)
		},
		Unasked: a.Unapproved != nil, Asks: a.Unapproved.matcher(),
		Start: func(mon uint32, tag uint8, manual bool) (uint32, bool) {
			hit := tag&explore.Wanted != 0 && mon == 1 && !(a.Unapproved != nil && manual)
			if tag&earlier != 0 {
				mon = 1
			}
			return mon, hit
		},
		Done: onSuccess(0),
	})
}

func (a NeverWhile) tools() []gate.Tool { return []gate.Tool{a.Tool, a.Other} }

// Bits of the monitor state in the proof of a [NeverWhile]. One bit records that a call to Other is
// still in flight. The other bit records the same for a call to Tool.
const (
	otherStays = 1 << iota
	toolStays
)

func (a NeverWhile) prove(m *prover) Proof {
	return m.proveNeverMet(&explore.Query{
		Sole: -1, Tag: tagger([]gate.Tool{a.Tool}, []gate.Tool{a.Other}, nil),
		Start: func(mon uint32, tag uint8, _ bool) (uint32, bool) {
			return mon, tag&explore.Wanted != 0 && mon&otherStays != 0 || tag&earlier != 0 && mon&toolStays != 0
		},
		Stay: func(mon uint32, tag uint8) (uint32, bool) {
			var stays uint32
			if tag&explore.Wanted != 0 {
				stays |= toolStays
			}
			if tag&earlier != 0 {
				stays |= otherStays
			}
			return stays, mon == 0 && stays != 0
		},
	})
}
