package webhook

import (
	"encoding/json"
	"fmt"
	"net/url"
	"time"

	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/text"
)

// maxShown is the maximum size, in bytes, of the arguments in a message. The linked page shows the
// arguments in full.
const maxShown = 64 << 10

// A message is the body of an event.
type message struct {
	Version   int             `json:"version"` // format version; always 1
	Event     string          `json:"event"`   // "asked" or "ended"
	Delivery  string          `json:"delivery"`
	ID        string          `json:"id"`
	State     string          `json:"state"`
	Upstream  string          `json:"upstream"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"` // masked arguments, or a string that explains why they were left out
	LeftOut   bool            `json:"argumentsLeftOut"`
	Size      int             `json:"size"` // size of the unmasked arguments, in bytes
	SHA256    string          `json:"sha256"`
	Rules     []string        `json:"rules"`
	Client    string          `json:"client"`
	Session   string          `json:"session"`
	Principal string          `json:"principal"`
	Created   time.Time       `json:"created"`
	Expires   time.Time       `json:"expires"`
	Needs     int             `json:"needs"`
	Approvals int             `json:"approvals"`
	Question  string          `json:"question"` // question for a person, in plain text

	// The following fields are set only in events of type "asked".
	Nonce   string `json:"nonce,omitempty"`
	Answer  string `json:"answer,omitempty"`  // URL that accepts a signed answer
	Approve string `json:"approve,omitempty"` // link that approves the call
	Deny    string `json:"deny,omitempty"`

	// The following fields are set only in events of type "ended".
	Channel string `json:"channel,omitempty"`
	Actor   string `json:"actor,omitempty"`
	Reason  string `json:"reason,omitempty"`
}

// message returns the body of an event.
func (h *Hook) message(id, event, delivery string) ([]byte, error) {
	a, err := h.Approvals.MaskedApproval(id, h.maskedForMessage)
	if err != nil {
		return nil, err
	}
	m := message{
		Version: 1, Event: event, Delivery: delivery, ID: a.ID, State: string(a.State), Upstream: text.Escape(a.Upstream), Tool: text.Escape(a.Tool),
		Arguments: a.Arguments, LeftOut: len(a.Arguments) == 0 || a.Arguments[0] == '"', Size: a.Size, SHA256: a.SHA256,
		Rules: text.EscapeAll(a.Rules), Client: text.Escape(a.Client), Session: text.Escape(a.Session), Principal: text.Escape(a.Principal),
		Created: a.Created.UTC(), Expires: a.Expires.UTC(), Needs: max(a.Needs, 1), Approvals: a.Approvals, Question: a.Question,
	}
	if event == "asked" {
		m.Nonce, m.Answer = h.signer.nonceText(a), h.answerURL()
		m.Approve, m.Deny = h.link(a, true), h.link(a, false)
	} else {
		m.Channel, m.Actor, m.Reason = a.Channel, text.Escape(a.Actor), text.Escape(a.Reason)
	}
	body, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("writing an approval: %w", err)
	}
	return text.EscapeJSON(body), nil
}

// link returns the URL that a person opens to make the given decision.
func (h *Hook) link(a operator.ApprovalInfo, approve bool) string {
	token := h.signer.token(a.ID, ticket{nonce: h.signer.nonce(a), expires: a.Expires, approve: approve})
	return h.answerURL() + "/" + url.PathEscape(a.ID) + "/" + token
}

// maskedForMessage masks arguments for display in the operator's system.
func (h *Hook) maskedForMessage(object []byte) []byte {
	masked := h.maskedForPage(object)
	if len(masked) > maxShown {
		return placeholder(fmt.Sprintf("%d bytes, left out since they are too long for a message", len(object)))
	}
	return masked
}

// maskedForPage masks arguments for display on a linked page.
func (h *Hook) maskedForPage(object []byte) []byte {
	if masked := h.redactor.Mask(object); masked != nil {
		return masked
	}
	return placeholder(fmt.Sprintf("%d bytes, left out by the configuration", len(object)))
}

// placeholder returns a JSON string with the reason why arguments are omitted. The reason must not
// contain characters that need escaping.
func placeholder(reason string) []byte { return []byte(`"` + reason + `"`) }
