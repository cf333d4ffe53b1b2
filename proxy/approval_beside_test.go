package proxy_test

import (
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/fixture"
)

// TestQuestionShowsWhatIsBeside: what goes on to the upstream beside the
// arguments is shown, and a consent is for the call with that alone.
func TestQuestionShowsWhatIsBeside(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, byOperator(time.Hour))
		c := s.connect(l, "")
		id := c.callWith("deploy", `{}`, `"com.example/force":"`+"\u202e"+`","traceparent":"00-1"`, `,"target":"staging"`)
		first := s.pending(1)[0]
		question := s.question(first.ID)
		for _, want := range []string{"Beside the arguments:\n  {\n    \"target\": \"staging\"\n  }", "In _meta:\n  {\n    \"com.example/force\": \"\\u{202e}\"\n  }"} {
			if !strings.Contains(question, want) {
				t.Errorf("the question lacks %s:\n%s", want, question)
			}
		}
		other := c.callWith("deploy", `{}`, "", `,"target":"production"`)
		s.pending(2)
		if err := s.proxy.Resolve(first.ID, true, "ada", ""); err != nil {
			t.Fatal(err)
		}
		if r := c.reply(id); r.isError() {
			t.Errorf("%s", r.raw)
		}
		if got := s.question(s.pending(1)[0].ID); !strings.Contains(got, "production") {
			t.Errorf("still pending: %s", got)
		}
		s.executed("deploy", 1)
		c.cancel(other)
		s.pending(0)
	})
}

// TestConsentBringsNoInput: what a client says to questions that its upstream
// has not asked, a person who approves the call has not seen.
func TestConsentBringsNoInput(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, byOperator(time.Hour))
		c := s.connect(l, "")
		id := c.callWith("deploy", `{}`, "", `,"inputResponses":{"sure":{"action":"accept"}}`)
		if err := s.proxy.Resolve(s.pending(1)[0].ID, true, "ada", ""); err != nil {
			t.Fatal(err)
		}
		if r := c.reply(id); r.isError() {
			t.Errorf("%s", r.raw)
		}
		if got := s.received("tools/call"); strings.Contains(got, "inputResponses") || !strings.Contains(got, "deploy") {
			t.Errorf("%s", got)
		}
	})
}

// TestApprovedPromptsAndResources: a consent lets a prompt and a resource pass.
func TestApprovedPromptsAndResources(t *testing.T) {
	const rules = "require human-approval before resource:up\nrequire human-approval before \"prompt:up.letter\"\n"
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, setup{rules: rules, server: fixture.Options{Capabilities: whole, Methods: map[string]fixture.Method{
			"prompts/list": says(`{"prompts":[{"name":"letter"}]}`), "prompts/get": says(`{"messages":[]}`),
			"resources/read": says(`{"contents":[]}`),
		}}})
		c := s.connect(l, canElicit)
		for method, params := range map[string]string{
			"prompts/get": `"name":"letter","arguments":{"to":"a"}`, "resources/read": `"uri":"a:1"`,
		} {
			q := c.asked("", "", c.ask(method, params))
			var reply message
			if l.modern {
				reply = c.request(method, params+q.with(approve))
			} else {
				reply = q.answer(approve)
			}
			if reply.result == nil || s.received(method) == "" {
				t.Errorf("%s after a consent: %s", method, reply.raw)
			}
		}
	})
}
