// Package asking builds the messages that make a client ask its user about an approval, in a form
// or on a page, and reads the client's answers.
package asking

import (
	"encoding/json"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// Key is the key of the question in inputRequests.
const Key = "approval"

const approve = "approve"

// Form returns the params of an elicitation/create request in form mode. The form contains a choice
// without a default, because some clients accept an empty form without asking the user.
func Form(message string) []byte {
	params, err := json.Marshal(map[string]any{
		"message": message,
		"requestedSchema": map[string]any{
			"type": "object",
			"properties": map[string]any{
				"decision": map[string]any{"type": "string", "title": "Decision", "enum": []string{approve, "deny"}},
				"reason":   map[string]any{"type": "string", "title": "Reason (optional)"},
			},
			"required": []string{"decision"},
		},
	})
	if err != nil {
		panic(err) // cannot happen: plain data can be encoded
	}
	return params
}

// Page returns the params of an elicitation/create request in URL mode. The argument id is the
// elicitationId; it is empty if the revision has no such ID.
func Page(message, url, id string) []byte {
	params := rawjson.Object{}.String("mode", "url").String("message", message).String("url", url)
	if id != "" {
		params = params.String("elicitationId", id)
	}
	return params.Bytes()
}

// Completed returns the notification that an elicitation in URL mode is complete.
func Completed(id string) []byte {
	return wire.AppendNotification(nil, spec.ElicitationComplete, rawjson.Object{}.String("elicitationId", id).Bytes())
}

// InputRequired returns an InputRequiredResult (2026-07-28), which makes the client send the call
// again. params are the params of an elicitation/create request; if they are nil, the result
// contains no question.
func InputRequired(params []byte, state string) []byte {
	result := rawjson.Object{}.String("resultType", "input_required")
	if params != nil {
		question := rawjson.Object{}.String("method", "elicitation/create").Raw("params", params).Bytes()
		result = result.Raw("inputRequests", rawjson.Object{}.Raw(Key, question).Bytes())
	}
	return result.String("requestState", state).Bytes()
}

// A Reply is a client's answer to an elicitation. If the elicitation was neither accepted nor
// declined, no person was asked.
type Reply struct {
	Accepted, Declined bool
	Approve            bool   // whether the person has chosen to approve, in a form that was accepted
	Reason             string // reason that the person has given, in a form that was accepted; may be empty
}

// Read parses the result of an elicitation.
func Read(result []byte) Reply {
	switch rawjson.StringAt(result, "action") {
	case "accept":
		return Reply{Accepted: true, Approve: rawjson.StringAt(result, "content", "decision") == approve, Reason: rawjson.StringAt(result, "content", "reason")}
	case "decline":
		return Reply{Declined: true}
	}
	return Reply{}
}
