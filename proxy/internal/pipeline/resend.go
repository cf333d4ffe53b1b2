package pipeline

import (
	"errors"
	"fmt"

	"github.com/petrigate/petrigate/internal/runtime/admission"
)

// checkResend checks whether the call may be sent again to a server that has forgotten the session
// of the first request. It returns nil, or the reason why the call must not be sent again.
func (f *inflightCall) checkResend() error {
	c := f.Call
	_, err := f.ticket.Again(c.pipeline.Life.Ctx, c.pipeline.Admission)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, admission.ErrOutdated):
		r := PlainRefusal("policy-changed", fmt.Sprintf("The policy changed before %s could be sent again to the upstream %s, which has not run it. Call it again for a new decision.", c.Tool.Exposed, c.Tool.Upstream.Config.Name))
		c.pipeline.RecordRefusal(c, r)
		return &resendRefused{r}
	default:
		return &resendRefused{refusal{c.pipeline.Admission.RefuseError(c.pipeline.Life.Ctx, c.admission(), err)}}
	}
}

// A resendRefused is the error for a call that must not be sent again. It contains the refusal that
// the client receives.
type resendRefused struct{ refusal }

func (e *resendRefused) Error() string { return e.Text }

// mayNeedResend reports whether the call might have to be sent again with input for the server. It
// might if the server asks for input with InputRequiredResult (2026-07-28) and the client does not
// support that.
func (f *inflightCall) mayNeedResend() bool {
	return f.rev.InputRequired && !f.Call.Peer.Rev.InputRequired
}

// mayNeedResend reports whether a call that has not been sent yet might later have to be sent again
// with input for the server.
func (c *Call) mayNeedResend() bool {
	return !c.Peer.Rev.InputRequired && c.Tool.Upstream.Rev().InputRequired
}
