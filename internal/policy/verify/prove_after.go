package verify

import (
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/callclass"
	"github.com/petrigate/petrigate/internal/policy/verify/internal/explore"
)

// NeverAfter claims that no call of Tool is admitted once a call of After was, whatever
// came of it, until a call of one of Until has succeeded. With Unapproved it claims so
// of calls about which no person is asked.
type NeverAfter struct {
	Tool, After gate.Tool
	Until       []gate.Tool // none: nothing ends it
	Unapproved  *Approval   // nil: no call may be admitted
}

func (a NeverAfter) tools() []gate.Tool { return append([]gate.Tool{a.Tool, a.After}, a.Until...) }

// prove looks for a call of Tool where the monitor is 1: a call of After was admitted.
func (a NeverAfter) prove(m *prover) Proof {
	tools := tagged([]gate.Tool{a.Tool}, []gate.Tool{a.After}, a.Until)
	return m.safe(&explore.Query{
		Sole: -1,
		Tag: func(s *callclass.Class) uint8 {
			if !m.own(s) {
				return tools(s) &^ explore.Wanted
			}
			return tools(s)
		},
		Unasked: a.Unapproved != nil, Asks: a.Unapproved.asks(),
		Start: func(mon uint32, tag uint8, manual bool) (uint32, bool) {
			hit := tag&explore.Wanted != 0 && mon == 1 && !(a.Unapproved != nil && manual)
			if tag&earlier != 0 {
				mon = 1
			}
			return mon, hit
		},
		Done: func(mon uint32, tag uint8) uint32 {
			if tag&explore.Succeeded != 0 {
				return 0
			}
			return mon
		},
	})
}

// NeverWhile claims that no call of Tool is admitted while one of Other is under way or
// its outcome is unknown, nor the other way round. If both are the same, no two of
// these calls are ever in flight together.
type NeverWhile struct{ Tool, Other gate.Tool }

func (a NeverWhile) tools() []gate.Tool { return []gate.Tool{a.Tool, a.Other} }

// The monitor of NeverWhile: which call is under way for good.
const (
	otherStays = 1 << iota
	toolStays
)

func (a NeverWhile) prove(m *prover) Proof {
	return m.safe(&explore.Query{
		Sole: -1, Tag: tagged([]gate.Tool{a.Tool}, []gate.Tool{a.Other}, nil),
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
