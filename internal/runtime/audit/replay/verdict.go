package replay

import (
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
)

// A verdict is the decision of the replayed policy.
type verdict struct {
	decision string // "allow", "refuse" or "ask"
	kind     gate.Kind
	nets     []audit.NetVerdict
	reason   string
	names    []gate.Name
	number   uint64 // an allowed call's number
	would    string
}

// ofPolicy reports whether a policy made the decision.
func ofPolicy(e *trail.Entry) bool {
	switch e.Decision.Decision {
	case "allow", "ask":
		return len(e.Names) > 0
	}
	switch gate.Kind(e.Kind) {
	case gate.KindBlocked, gate.KindApproval, gate.KindValidation, gate.KindStateChanged, gate.KindDefault:
		return len(e.Names) > 0
	}
	return false // also false for duplicates, because the IDs in use are not recorded
}

// comparable returns the nets' verdicts in a form that can be compared, sorted by net.
func (r *Replay) comparable(nets []audit.NetVerdict) (all []string) {
	for _, n := range nets {
		all = append(all, n.Net+" "+n.Verdict+" "+n.Transition)
	}
	slices.Sort(all)
	return all
}

// text describes a decision and names the nets responsible.
func text(decision, kind string, nets []audit.NetVerdict) string {
	var b strings.Builder
	b.WriteString(decision)
	if decision == "refuse" && kind != "" {
		b.WriteString(" (" + kind + ")")
	}
	for i, n := range nets {
		if i == 0 {
			b.WriteString(": ")
		} else {
			b.WriteString(", ")
		}
		b.WriteString(n.Net + " " + n.Verdict)
		if n.Transition != "" {
			b.WriteString(" by " + n.Transition)
		}
		if n.Rule != "" {
			b.WriteString(" (" + n.Rule + ")")
		}
	}
	return b.String()
}
