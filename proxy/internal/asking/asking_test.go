package asking

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/approval"
)

// TestRead checks that only the choice to approve counts as an approval, and that only two actions
// count as answers.
func TestRead(t *testing.T) {
	for result, want := range map[string]Reply{
		`{"action":"accept","content":{"decision":"approve","reason":"fine"}}`: {Accepted: true, Approve: true, Reason: "fine"},
		`{"action":"accept","content":{"decision":"deny"}}`:                    {Accepted: true},
		`{"action":"accept","content":{"decision":["approve"]}}`:               {Accepted: true},
		`{"action":"accept"}`: {Accepted: true},
		`{"action":"decline","content":{"decision":"approve"}}`: {Declined: true},
		`{"action":"cancel"}`: {},
		`{"action":true}`:     {},
		`{}`:                  {},
		``:                    {},
	} {
		if got := Read([]byte(result)); got != want {
			t.Errorf("%s: %+v", result, got)
		}
	}
}

// TestMessages checks that messages are valid JSON, whatever their texts contain.
func TestMessages(t *testing.T) {
	const text = "a \"b\" \n\u2028 </script>"
	for message, want := range map[string]string{
		string(Page(text, "http://x/?a=b&c", "")):     `{"mode":"url","message":"a \"b\" \n\u2028 \u003c/script\u003e","url":"http://x/?a=b\u0026c"}`,
		string(Page("m", "u", "id")):                  `{"mode":"url","message":"m","url":"u","elicitationId":"id"}`,
		string(CompletedNotification("id")):           `{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"id"}}`,
		string(InputRequired(nil, "s")):               `{"resultType":"input_required","requestState":"s"}`,
		string(InputRequired([]byte(`{"a":1}`), "s")): `{"resultType":"input_required","inputRequests":{"approval":{"method":"elicitation/create","params":{"a":1}}},"requestState":"s"}`,
	} {
		var got, expected any
		if err := json.Unmarshal([]byte(message), &got); err != nil {
			t.Fatalf("%s: %v", message, err)
		}
		if err := json.Unmarshal([]byte(want), &expected); err != nil {
			t.Fatal(err)
		}
		a, _ := json.Marshal(got)
		b, _ := json.Marshal(expected)
		if string(a) != string(b) {
			t.Errorf("%s, want %s", a, b)
		}
	}
}

// TestDenied checks that the text ends with one punctuation mark, whatever the person wrote.
func TestDenied(t *testing.T) {
	for reason, want := range map[string]string{
		"":             "A person denied push. Do not call it again with these arguments.",
		"not today":    "A person denied push: not today. Do not call it again with these arguments.",
		"Not today.":   "A person denied push: Not today. Do not call it again with these arguments.",
		"Who said so?": "A person denied push: Who said so? Do not call it again with these arguments.",
	} {
		now := time.Now()
		said := approval.Answer{State: approval.Denied, Channel: approval.CLI, Reason: reason, At: now}
		if got := NoConsentText("push", &approval.Request{}, said, false, false, now); got != want {
			t.Errorf("%q: %s", reason, got)
		}
	}
}
