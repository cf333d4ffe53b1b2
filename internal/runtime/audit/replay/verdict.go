package replay

import (
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
)

// A verdict is a decision made by the replayed policy.
type verdict struct {
	decision string // "allow", "refuse" or "ask"
	kind     gate.Kind
	nets     []audit.NetVerdict
	reason   string
	number   uint64 // number of the allowed call in the replayed state
	would    string
}

// madeByPolicy reports whether the recorded decision was made by a policy.
func madeByPolicy(e *trail.Entry) bool {
	decided := e.Decision.Decision == "allow" || e.Decision.Decision == "ask"
	switch gate.Kind(e.Kind) { // without KindDuplicate, because a replay cannot detect duplicates: the IDs in use are not recorded
	case gate.KindBlocked, gate.KindApproval, gate.KindValidation, gate.KindStateChanged, gate.KindDefault:
		decided = true
	}
	return decided && len(e.Names) > 0
}

// recordedDecision returns the decision in the record, or "ask" if an approval was denied or not
// answered.
func recordedDecision(e *trail.Entry) string {
	if e.Kind == string(gate.KindApproval) {
		return "ask"
	}
	return e.Decision.Decision
}

// verdictLines formats the verdicts as sorted strings for comparison.
func (r *Replay) verdictLines(nets []audit.NetVerdict) []string {
	all := list.Map(nets, func(n audit.NetVerdict) string { return n.Net + " " + n.Verdict + " " + n.Transition })
	slices.Sort(all)
	return all
}

// formatDecision formats a decision, including the nets responsible.
func formatDecision(decision, kind string, nets []audit.NetVerdict) string {
	if decision == "refuse" && kind != "" {
		decision += " (" + kind + ")"
	}
	if len(nets) == 0 {
		return decision
	}
	return decision + ": " + strings.Join(list.Map(nets, func(n audit.NetVerdict) string {
		text := n.Net + " " + n.Verdict
		if n.Transition != "" {
			text += " by " + n.Transition
		}
		if n.Rule != "" {
			text += " (" + n.Rule + ")"
		}
		return text
	}), ", ")
}
