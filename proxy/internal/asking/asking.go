// Package asking builds the requests that make a client ask its user for an approval, in a form or
// on a web page, and parses the client's replies.
package asking

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/petrigate/petrigate/internal/channel"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/runtime/approval"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// Key is the key of the approval question in the inputRequests map.
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

// Page returns the params of an elicitation/create request in URL mode. id is the elicitationId, or
// "" if the client's protocol revision does not define one.
func Page(message, url, id string) []byte {
	params := rawjson.Object{}.String("mode", "url").String("message", message).String("url", url)
	if id != "" {
		params = params.String("elicitationId", id)
	}
	return params.Bytes()
}

// CompletedNotification returns a notification that tells the client that an elicitation in URL
// mode is complete.
func CompletedNotification(id string) []byte {
	return wire.AppendNotification(nil, spec.ElicitationComplete, rawjson.Object{}.String("elicitationId", id).Bytes())
}

// InputRequired returns an InputRequiredResult (2026-07-28), which makes the client send the call
// again. The result contains an elicitation/create request with the given params, or no request if
// params is nil.
func InputRequired(params []byte, state string) []byte {
	result := rawjson.Object{}.String("resultType", "input_required")
	if params != nil {
		question := rawjson.Object{}.String("method", "elicitation/create").Raw("params", params).Bytes()
		result = result.Raw("inputRequests", rawjson.Object{}.Raw(Key, question).Bytes())
	}
	return result.String("requestState", state).Bytes()
}

// A Reply is a client's answer to an elicitation. If both Accepted and Declined are false, no
// person was asked.
type Reply struct {
	Accepted, Declined bool
	Approve            bool   // whether the person has accepted the form and chosen to approve the call
	Reason             string // the reason that the person has entered in the form; may be empty
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

// ParkedText returns the text of the result for a call that has waited the maximum time for a
// person's answer. The person can still answer, and the client gets that answer by repeating the
// call. The text does not explain how to answer, because the model that reads it could answer the
// request with a shell command.
func ParkedText(id string) string {
	return fmt.Sprintf("A person has been asked (approval %s) and has not answered yet. Call the same tool again with the same arguments later.", id)
}

// NoConsentText returns the text of the result for a call that was not approved. The text gives the
// reason. gone reports whether the client has stopped waiting, and ending whether the proxy is
// shutting down.
func NoConsentText(tool string, r *approval.Request, said approval.Answer, gone, ending bool, now time.Time) string {
	switch {
	case said.State == approval.Denied:
		return denialText(tool, said, now)
	case said.State == approval.Expired:
		return fmt.Sprintf("%s requires human approval, but no one answered in time.", tool)
	case gone:
		return fmt.Sprintf("%s requires human approval, but the client disconnected before a person answered.", tool)
	case ending:
		return fmt.Sprintf("%s requires human approval, but petrigate stopped before a person answered. Call the tool again once petrigate runs.", tool)
	case r.WasUnasked():
		return fmt.Sprintf("%s requires human approval, but the client did not show the question, and no other channel is open.", tool)
	case r.Via != "":
		return fmt.Sprintf("%s requires human approval via %s, but no one can be asked that way now.", tool, r.Via)
	default:
		return fmt.Sprintf("%s requires human approval, but there is no one to ask: this client cannot show a question, and no other channel is open.", tool)
	}
}

// denialText returns the text of the result for a denied call. The text contains the reason, and
// how long ago the call was denied. It does not claim that a person denied the call if the client
// might have declined without asking its user.
func denialText(tool string, said approval.Answer, now time.Time) string {
	why := "A person denied " + tool
	if said.Channel == approval.Elicit && said.Reason == "" {
		why = tool + " was not approved"
	}
	if ago := now.Sub(said.At); ago >= time.Second {
		why += " " + text.Duration(ago) + " ago"
	}
	if said.Reason != "" {
		why += ": " + text.Escape(said.Reason)
	}
	if !strings.ContainsAny(why[len(why)-1:], ".!?") {
		why += "."
	}
	return why + " Do not call it again with these arguments."
}

// maxCaller is the maximum length, in bytes, of a principal's or a client's name in a log line.
const maxCaller = 200

// WaitingLogLine returns a log line that tells operators that a call is waiting for an answer. The
// line ends with the given instructions for answering.
func WaitingLogLine(c approval.Call, id, client, how string) string {
	return fmt.Sprintf("approval %s requested: %s on %s, by %s; answer: %s",
		id, text.Escape(c.Tool), text.Escape(c.Upstream), text.Caller(c.Principal, client, maxCaller), how)
}

// HowToAnswer returns a short instruction for answering an approval request. If only an external
// system can answer, the instruction names that system. Otherwise, if the request can be answered
// outside the client, the instruction is the given command. If not, it is "at the client".
func HowToAnswer(r *approval.Request, verb string) string {
	only, _ := channel.Find(r.Via)
	switch {
	case only.Elsewhere != "":
		return only.Elsewhere
	case r.AllowsBeside(channel.OfClient()...):
		return verb
	}
	return "at the client"
}

// AnsweredLogLine returns a log line that tells operators that an approval was answered.
func AnsweredLogLine(r approval.Record, approve bool, channel, actor string) string {
	verb := "denied"
	switch {
	case approve && r.Request.Needs > 1:
		verb = fmt.Sprintf("approved (%d of %d people)", r.Answer.Approvals, r.Request.Needs)
	case approve:
		verb = "approved"
	}
	return fmt.Sprintf("approval %s %s: %s on %s, by %s via %s", r.Request.ID, verb, text.Escape(r.Call.Tool), text.Escape(r.Call.Upstream), text.Escape(actor), channel)
}

// ProgressNote returns the nth progress notification for the given progress token.
func ProgressNote(token []byte, n int, message string) []byte {
	params := fmt.Appendf(nil, `{"progressToken":%s,"progress":%d,"message":`, token, n)
	return wire.AppendNotification(nil, "notifications/progress", append(rawjson.AppendString(params, message), '}'))
}
