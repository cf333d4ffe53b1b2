package admission

import (
	"errors"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/audit"
)

// verdict is an unfinished decision on a call, under one generation.
type verdict struct {
	call    *Call
	grant   *gate.Grant // nil: no approval was requested
	consent *Consent    // the person's consent; set together with grant

	generation *Generation
	prepared   gate.Prepared
	decision   gate.Decision
	entry      decisionEntry
	refused    *Refused    // answer for the caller if the nets refuse the call
	state      *gate.State // state at the time of the refusal, if a remedy is wanted
}

// addRemedy adds the remedy to the answer.
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

// errSwapped means that the policy was replaced in the meantime, so the decision must be retried.
var errSwapped = errors.New("the policy was replaced")

// decisionEntry is a decision record, allocated with enough space for most decisions.
type decisionEntry struct {
	audit.Decision
	events [1]audit.Event
	names  [4]string
	nets   [4]audit.NetVerdict
}
