package admission

import (
	"errors"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/audit"
)

// verdict is a decision in progress on one call, under a single [Generation].
type verdict struct {
	call    *Call
	grant   *gate.Grant // approval that has been given for the call, or nil
	consent *Consent    // identity of the approval, for the audit record; nil if the call has no approval

	generation *Generation
	prepared   gate.Prepared
	decision   gate.Decision
	entry      decisionEntry
	refused    *Refused    // response to the caller if the nets refuse the call; otherwise nil
	state      *gate.State // state when the call was refused, used to find a remedy; nil if no remedy is wanted
}

// addRemedy finds a remedy for the refusal r and adds it to v.refused, the refusal that the caller
// gets.
func (v *verdict) addRemedy(r *gate.Refusal) {
	if v.state == nil {
		return
	}
	remedy := v.generation.Remedy(v.state, v.call.Gate, r)
	v.refused.Facts.Remedy = remedy.raw()
	if remedy.Text != "" {
		v.refused.Text += " " + remedy.Text
	}
}

// errSwapped means that the policy was replaced while a decision was being made. The caller must
// decide again.
var errSwapped = errors.New("the policy was replaced")

// decisionEntry is a decision record together with space for its slices, enough for most decisions.
type decisionEntry struct {
	audit.Decision
	events [1]audit.Event
	names  [4]string
	nets   [4]audit.NetVerdict
}
