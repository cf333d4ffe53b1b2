package gate

import (
	"fmt"
	"slices"

	"github.com/petrigate/petrigate/gate/naming"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/petri"
)

// applyPhases blocks the call if the place of a phase is marked and the phase does not list the
// call.
func (f *finding) applyPhases(c *Call) {
	if f.kind == Blocked {
		return
	}
	present := petri.Marking(f.data.Marking)
	if len(f.data.Flights) > 0 {
		present = f.net.withInFlight(f.data)
	}
	for i := range f.net.Phases {
		ph := &f.net.Phases[i]
		if present[slices.Index(f.net.Places, ph.Place)] > 0 && !allows(ph, f.labels) {
			f.blockFor(f.net.phaseReason(ph, c.Tool), 0)
			f.special.phase = ph
			return
		}
	}
}

// allows reports whether the phase lists a name that the call is certain to have.
func allows(ph *Phase, ls []naming.Label) bool {
	return slices.ContainsFunc(ph.Tools, func(u Tool) bool { return naming.Exempts(&u, ls) })
}

// inPhase reports whether the call is certain to have a name that one of the net's phases lists,
// even if the place of the phase is not marked. "default: deny" does not refuse such a call.
func (d *definition) inPhase(ls []naming.Label) bool {
	return slices.ContainsFunc(d.Phases, func(ph Phase) bool { return allows(&ph, ls) })
}

// phaseReason explains why the tool cannot be called in a phase.
func (d *definition) phaseReason(ph *Phase, tool string) string {
	if d.Reason != "" {
		return d.Reason
	}
	if len(ph.Tools) == 0 {
		return fmt.Sprintf("%s cannot be called while net '%s' is in %s: no tool can.", tool, d.Name, ph.Place)
	}
	names := list.Map(ph.Tools, func(u Tool) string { return u.Name })
	return fmt.Sprintf("%s cannot be called while net '%s' is in %s: only %s can.", tool, d.Name, ph.Place, listOrNone(names))
}
