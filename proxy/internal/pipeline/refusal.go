package pipeline

import (
	"encoding/json"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/serve/admission"
	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// decisionKey is where machines find a decision in the _meta of a result.
const decisionKey = wire.OwnMeta + "decision"

// A refusal is what a client is told instead of a result.
type refusal struct{ *admission.Refused }

// PlainRefusal is a refusal that no net is the cause of.
func PlainRefusal(kind, text string) refusal { return refusal{admission.Refuse(kind, text)} }

// unanswered is what a client is told of a call that was allowed where its
// upstream has no result for it.
func unanswered(kind string, o gate.Outcome, text string) refusal {
	return refusal{admission.Unanswered(kind, o, text)}
}

// append writes the whole JSON-RPC answer.
func (r refusal) append(dst, id []byte, of *rev.Rev) []byte {
	return wire.AppendResult(dst, id, wire.AppendToolError(nil, r.Text, r.meta(), of.ResultType))
}

// meta is the refusal for machines.
func (r refusal) meta() []byte {
	meta, err := json.Marshal(map[string]admission.Facts{decisionKey: r.Facts})
	if err != nil {
		panic(err) // facts are plain data
	}
	return meta
}
