package proxy_test

import (
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/testserver"
)

// TestQuestionShowsWhatIsBeside: params that reach the upstream besides the arguments are shown,
// and a consent is valid only for a call with the same ones.
func TestQuestionShowsWhatIsBeside(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, byOperator(time.Hour))
		c := s.connect(l, "")
		id := c.callWith("deploy", `{}`, `"com.example/force":"`+"\u202e"+`",`+traced, `,"target":"staging"`)
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

// traced is a _meta as sent by clients that trace their calls.
const traced = `"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"`

// TestShownIsForwarded: the upstream gets the _meta that the person was shown, whatever the call
// that redeems the answer contains there, and no free text that the person was not shown.
func TestShownIsForwarded(t *testing.T) {
	for _, era := range []testserver.Eras{testserver.Legacy, testserver.Modern} {
		eachLeg(t, func(t *testing.T, l leg) {
			s := byOperator(atOnce)
			s.server.Eras = era
			st := start(t, s)
			c := st.connect(l, "")
			parked := func(meta string) string {
				r := c.reply(c.callWith("deploy", `{}`, meta, ""))
				for l.modern && at(r.result, "resultType") == `"input_required"` {
					r = c.reply(c.callWith("deploy", `{}`, meta, `,"requestState":`+at(r.result, "requestState")))
				}
				return r.decision("approval")
			}
			id := parked(`"com.example/mode":"dry-run","com.example/call":1`)
			if again := parked(`"com.example/mode":"REALLY","com.example/call":2`); again != id {
				t.Errorf("who comes back is asked anew: %s and %s", id, again)
			}
			if text := st.question(id); !strings.Contains(text, "dry-run") || strings.Contains(text, "REALLY") {
				t.Errorf("shown:\n%s", text)
			}
			if err := st.proxy.Resolve(id, true, "ada", ""); err != nil {
				t.Fatal(err)
			}
			r := c.reply(c.callWith("deploy", `{}`, `"com.example/mode":"REALLY","com.example/more":1,"baggage":"mode=REALLY","tracestate":"mode=REALLY",`+traced, ""))
			if r.isError() || r.result == nil {
				t.Fatalf("%s", r.raw)
			}
			got := st.received("tools/call")
			if !strings.Contains(got, `"com.example/mode":"dry-run","com.example/call":1,`+traced) || strings.Contains(got, "REALLY") || strings.Contains(got, "more") {
				t.Errorf("forwarded: %s", got)
			}
		})
	}
}

// TestLaterRoundsAreAsShown: the same holds for rounds after the approval, when the upstream asks
// for more input: they cannot add anything that was not shown.
func TestLaterRoundsAreAsShown(t *testing.T) {
	modernLegs(t, func(t *testing.T, l leg) {
		s := byOperator(time.Hour)
		s.rules = "require human-approval before curious\n"
		s.server = testserver.Options{Eras: testserver.Modern, Tools: []testserver.Tool{rounds()}}
		st := start(t, s)
		c := st.connect(l, canAll)
		approved := func(meta string) message {
			id := c.callWith("curious", `{}`, meta, `,"x-kept":1`)
			if err := st.proxy.Resolve(st.pending(1)[0].ID, true, "ada", ""); err != nil {
				t.Fatal(err)
			}
			return c.reply(id)
		}
		round := func(meta, beside string, r message) string {
			return c.callWith("curious", `{}`, meta, beside+`,"inputResponses":{"who":`+nameGiven+`},"requestState":`+at(r.result, "requestState"))
		}
		r := c.reply(round(`"a/mode":"REALLY","baggage":"mode=REALLY"`, `,"x-kept":1`, approved(`"a/mode":"dry-run"`)))
		if at(r.result, "heard") != nameGiven {
			t.Errorf("%s", r.raw)
		}
		if got := st.received("tools/call"); !strings.Contains(got, "dry-run") || strings.Contains(got, "REALLY") || !strings.Contains(got, `"x-kept":1`) {
			t.Errorf("forwarded: %s", got)
		}
		st.executed("curious", 2)
		for _, beside := range []string{`,"x-kept":1,"x-extra":{"force":true}`, `,"x-kept":2`, ``} { // is another call
			id := round("", beside, approved(""))
			if text := st.question(st.pending(1)[0].ID); strings.Contains(text, "x-extra") != strings.Contains(beside, "x-extra") {
				t.Errorf("shown:\n%s", text)
			}
			if err := st.proxy.Resolve(st.pending(1)[0].ID, false, "ada", ""); err != nil {
				t.Fatal(err)
			}
			if r := c.reply(id); !r.isError() {
				t.Errorf("%s: %s", beside, r.raw)
			}
		}
		st.executed("curious", 5)
	})
}

// TestTaskIsShown: the task member, which is forwarded too, is shown.
func TestTaskIsShown(t *testing.T) {
	taskLegs(t, func(*testing.T) setup { return byOperator(time.Hour) }, func(t *testing.T, s *site, c *client) {
		if c.leg.modern { // this leg does not use the member
			return
		}
		id := c.callWith("deploy", `{}`, "", `,"task":{"x/mode":"force"}`)
		if text := s.question(s.pending(1)[0].ID); !strings.Contains(text, `"x/mode": "force"`) {
			t.Errorf("shown:\n%s", text)
		}
		c.cancel(id)
		s.pending(0)
	})
}

// TestConsentBringsNoInput: input for requests that the upstream has not sent is not covered by the
// approval of the call.
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

// TestApprovedPromptsAndResources: a consent admits a prompt and a resource.
func TestApprovedPromptsAndResources(t *testing.T) {
	const rules = "require human-approval before resource:up\nrequire human-approval before \"prompt:up.letter\"\n"
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, setup{rules: rules, server: testserver.Options{Capabilities: whole, Methods: map[string]testserver.Method{
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
