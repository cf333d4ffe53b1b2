package admission

import (
	"errors"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/audit"
)

// verdict is an unfinished decision on a call, made under a single generation.
type verdict struct {
	call    *Call
	grant   *gate.Grant // nil if no approval was needed
	consent *Consent    // the consent of a person; set together with grant

	generation *Generation
	prepared   gate.Prepared
	decision   gate.Decision
	entry      decisionEntry
	refused    *Refused    // refusal to return to the caller if the nets refuse the call
	state      *gate.State // state in force when the call was refused; nil if no remedy is wanted
}

// addRemedy adds a remedy for r to the refusal that is returned to the caller.
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

// errSwapped means that the policy was replaced during the decision, which must be retried.
var errSwapped = errors.New("the policy was replaced")

// decisionEntry is a decision record with enough preallocated space for most decisions.
type decisionEntry struct {
	audit.Decision
	events [1]audit.Event
	names  [4]string
	nets   [4]audit.NetVerdict
}
