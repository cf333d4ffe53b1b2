package pipeline

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// An answer is a complete JSON-RPC response sent by the proxy instead of the server's result.
type answer interface {
	append(dst, id []byte, r *rev.Rev) []byte
}

// A refusal is an answer that explains why a call was not made or has no result.
type refusal struct{ *admission.Refused }

// decisionKey is the _meta key of the machine-readable decision in a result.
const decisionKey = wire.OwnMeta + "decision"

// PlainRefusal returns a refusal for a reason other than a net's decision, such as a server that is
// down.
func PlainRefusal(kind, text string) refusal { return refusal{admission.Refuse(kind, text)} }

// unansweredRefusal returns the refusal for an admitted call that has no result.
func unansweredRefusal(kind string, o gate.Outcome, text string) refusal {
	return refusal{admission.ReportUnanswered(kind, o, text)}
}

// append appends the refusal to dst, as a tool result with isError set.
func (r refusal) append(dst, id []byte, of *rev.Rev) []byte {
	return wire.AppendResult(dst, id, wire.AppendToolError(nil, r.Text, r.meta(), of.ResultType))
}

// meta returns a _meta object with the machine-readable form of the refusal.
func (r refusal) meta() []byte {
	meta, err := json.Marshal(map[string]admission.Facts{decisionKey: r.Facts})
	if err != nil {
		panic(err) // cannot happen: Facts can always be encoded
	}
	return meta
}

// RecordRefusal records a refusal for a reason other than a net's decision. If recording fails, the
// call is still refused.
func (p *Pipeline) RecordRefusal(c *Call, r refusal) {
	p.Admission.Refused(p.Life.Ctx, c.admission(), r.Refused)
}

// checkResend returns the reason why the call must not be sent again, or nil if it can be sent
// again. It is called after the server has refused to run the call, because the server did not
// accept the session or the credentials.
func (f *inflightCall) checkResend() error {
	c := f.Call
	_, err := f.ticket.NewPass(c.pipeline.Life.Ctx, c.pipeline.Admission)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, admission.ErrOutdated):
		r := PlainRefusal("policy-changed", fmt.Sprintf("The policy changed before %s could be sent again to the upstream %s, which has not run it. Call it again for a new decision.", c.Tool.Exposed, c.Tool.Upstream.Config.Name))
		c.pipeline.RecordRefusal(c, r)
		return &resendError{r}
	default:
		return &resendError{refusal{c.pipeline.Admission.RefuseError(c.pipeline.Life.Ctx, c.admission(), err)}}
	}
}

// A resendError is the error for a call that must not be sent again. It holds the refusal for the
// client.
type resendError struct{ refusal }

func (e *resendError) Error() string { return e.Text }

// mayNeedResend reports whether the call might have to be sent again, either as a task or with
// input that the server has requested. This is the case if the server can ask for input with
// InputRequiredResult (2026-07-28) but the client does not support such results.
func (f *inflightCall) mayNeedResend() bool {
	return f.rev.InputRequired && !f.Call.Peer.Rev.InputRequired
}

// mayNeedResend is like [inflightCall.mayNeedResend], but for a call that has not been sent yet. It
// uses the server's current revision.
func (c *Call) mayNeedResend() bool {
	return !c.Peer.Rev.InputRequired && c.Tool.Upstream.Rev().InputRequired
}
