package pipeline

import (
	"encoding/json"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// An answer is a complete JSON-RPC response that the proxy sends instead of the server's result.
type answer interface {
	append(dst, id []byte, r *rev.Rev) []byte
}

// A refusal is an answer that explains why a call was not made or has no result.
type refusal struct{ *admission.Refused }

// decisionKey is the key in a result's _meta that holds the decision in machine-readable form.
const decisionKey = wire.OwnMeta + "decision"

// PlainRefusal returns a refusal for a reason other than a net.
func PlainRefusal(kind, text string) refusal { return refusal{admission.Refuse(kind, text)} }

// unanswered returns the answer for an admitted call that has no result.
func unanswered(kind string, o gate.Outcome, text string) refusal {
	return refusal{admission.Unanswered(kind, o, text)}
}

// append appends a tool result that has isError set.
func (r refusal) append(dst, id []byte, of *rev.Rev) []byte {
	return wire.AppendResult(dst, id, wire.AppendToolError(nil, r.Text, r.meta(), of.ResultType))
}

// meta returns a _meta object with the refusal in machine-readable form.
func (r refusal) meta() []byte {
	meta, err := json.Marshal(map[string]admission.Facts{decisionKey: r.Facts})
	if err != nil {
		panic(err) // cannot fail: facts can always be encoded
	}
	return meta
}

// RecordRefusal records a refusal for a reason other than a net. The call stays refused even if the
// refusal cannot be recorded.
func (p *Pipeline) RecordRefusal(c *Call, r refusal) {
	p.Admission.Refused(p.Life.Ctx, c.admission(), r.Refused)
}
