package pipeline_test

import (
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/internal/testserver"
)

// TestQuestionShowsWhatIsBeside: params that reach the upstream besides the arguments are shown,
// and a consent is valid only for a call with the same ones.
func TestQuestionShowsWhatIsBeside(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.OperatorSetup(time.Hour))
		c := s.Connect(l, "")
		id := c.CallWith("deploy", `{}`, `"com.example/force":"`+"\u202e"+`",`+traced, `,"target":"staging"`)
		first := s.AwaitPending(1)[0]
		question := s.Question(first.ID)
		for _, want := range []string{"In addition to the arguments:\n  {\n    \"target\": \"staging\"\n  }", "In _meta:\n  {\n    \"com.example/force\": \"\\u{202e}\"\n  }"} {
			if !strings.Contains(question, want) {
				t.Errorf("the question lacks %s:\n%s", want, question)
			}
		}
		other := c.CallWith("deploy", `{}`, "", `,"target":"production"`)
		s.AwaitPending(2)
		if err := s.Proxy.Resolve(first.ID, true, "ada", ""); err != nil {
			t.Fatal(err)
		}
		if r := c.Reply(id); r.IsError() {
			t.Errorf("%s", r.Raw)
		}
		if got := s.Question(s.AwaitPending(1)[0].ID); !strings.Contains(got, "production") {
			t.Errorf("still pending: %s", got)
		}
		s.Executed("deploy", 1)
		c.Cancel(other)
		s.AwaitPending(0)
	})
}

// traced is a _meta as sent by clients that trace their calls.
const traced = `"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"`

// TestShownIsForwarded: the upstream gets the _meta that the person was shown, whatever the call
// that redeems the answer contains there, and no free text that the person was not shown.
func TestShownIsForwarded(t *testing.T) {
	for _, era := range []testserver.Revisions{testserver.Legacy, testserver.Modern} {
		proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
			s := proxytest.OperatorSetup(proxytest.ParkAtOnce)
			s.Server.Revisions = era
			st := proxytest.Start(t, s)
			c := st.Connect(l, "")
			parked := func(meta string) string {
				r := c.Reply(c.CallWith("deploy", `{}`, meta, ""))
				for l.Modern && proxytest.Member(r.Result, "resultType") == `"input_required"` {
					r = c.Reply(c.CallWith("deploy", `{}`, meta, `,"requestState":`+proxytest.Member(r.Result, "requestState")))
				}
				return r.Decision("approval")
			}
			id := parked(`"com.example/mode":"dry-run","com.example/call":1`)
			if again := parked(`"com.example/mode":"REALLY","com.example/call":2`); again != id {
				t.Errorf("who comes back is asked anew: %s and %s", id, again)
			}
			if text := st.Question(id); !strings.Contains(text, "dry-run") || strings.Contains(text, "REALLY") {
				t.Errorf("shown:\n%s", text)
			}
			if err := st.Proxy.Resolve(id, true, "ada", ""); err != nil {
				t.Fatal(err)
			}
			r := c.Reply(c.CallWith("deploy", `{}`, `"com.example/mode":"REALLY","com.example/more":1,"baggage":"mode=REALLY","tracestate":"mode=REALLY",`+traced, ""))
			if r.IsError() || r.Result == nil {
				t.Fatalf("%s", r.Raw)
			}
			got := st.LastReceived("tools/call")
			if !strings.Contains(got, `"com.example/mode":"dry-run","com.example/call":1,`+traced) || strings.Contains(got, "REALLY") || strings.Contains(got, "more") {
				t.Errorf("forwarded: %s", got)
			}
		})
	}
}

// TestLaterRoundsAreAsShown: the same holds for rounds after the approval, when the upstream asks
// for more input: they cannot add anything that was not shown.
func TestLaterRoundsAreAsShown(t *testing.T) {
	proxytest.ModernLegs(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.OperatorSetup(time.Hour)
		s.Rules = "require human-approval before curious\n"
		s.Server = testserver.Options{Revisions: testserver.Modern, Tools: []testserver.Tool{proxytest.RoundsTool()}}
		st := proxytest.Start(t, s)
		c := st.Connect(l, proxytest.CanAll)
		approved := func(meta string) proxytest.Message {
			id := c.CallWith("curious", `{}`, meta, `,"x-kept":1`)
			if err := st.Proxy.Resolve(st.AwaitPending(1)[0].ID, true, "ada", ""); err != nil {
				t.Fatal(err)
			}
			return c.Reply(id)
		}
		round := func(meta, beside string, r proxytest.Message) string {
			return c.CallWith("curious", `{}`, meta, beside+`,"inputResponses":{"who":`+proxytest.NameGiven+`},"requestState":`+proxytest.Member(r.Result, "requestState"))
		}
		r := c.Reply(round(`"a/mode":"REALLY","baggage":"mode=REALLY"`, `,"x-kept":1`, approved(`"a/mode":"dry-run"`)))
		if proxytest.Member(r.Result, "heard") != proxytest.NameGiven {
			t.Errorf("%s", r.Raw)
		}
		if got := st.LastReceived("tools/call"); !strings.Contains(got, "dry-run") || strings.Contains(got, "REALLY") || !strings.Contains(got, `"x-kept":1`) {
			t.Errorf("forwarded: %s", got)
		}
		st.Executed("curious", 2)
		for _, beside := range []string{`,"x-kept":1,"x-extra":{"force":true}`, `,"x-kept":2`, ``} { // is another call
			id := round("", beside, approved(""))
			if text := st.Question(st.AwaitPending(1)[0].ID); strings.Contains(text, "x-extra") != strings.Contains(beside, "x-extra") {
				t.Errorf("shown:\n%s", text)
			}
			if err := st.Proxy.Resolve(st.AwaitPending(1)[0].ID, false, "ada", ""); err != nil {
				t.Fatal(err)
			}
			if r := c.Reply(id); !r.IsError() {
				t.Errorf("%s: %s", beside, r.Raw)
			}
		}
		st.Executed("curious", 5)
	})
}

// TestTaskIsShown: the task member, which is forwarded too, is shown.
func TestTaskIsShown(t *testing.T) {
	proxytest.TaskLegs(t, func(*testing.T) proxytest.Setup { return proxytest.OperatorSetup(time.Hour) }, func(t *testing.T, s *proxytest.Site, c *proxytest.Client) {
		if c.Leg.Modern { // this leg does not use the member
			return
		}
		id := c.CallWith("deploy", `{}`, "", `,"task":{"x/mode":"force"}`)
		if text := s.Question(s.AwaitPending(1)[0].ID); !strings.Contains(text, `"x/mode": "force"`) {
			t.Errorf("shown:\n%s", text)
		}
		c.Cancel(id)
		s.AwaitPending(0)
	})
}

// TestConsentBringsNoInput: input for requests that the upstream has not sent is not covered by the
// approval of the call.
func TestConsentBringsNoInput(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.OperatorSetup(time.Hour))
		c := s.Connect(l, "")
		id := c.CallWith("deploy", `{}`, "", `,"inputResponses":{"sure":{"action":"accept"}}`)
		if err := s.Proxy.Resolve(s.AwaitPending(1)[0].ID, true, "ada", ""); err != nil {
			t.Fatal(err)
		}
		if r := c.Reply(id); r.IsError() {
			t.Errorf("%s", r.Raw)
		}
		if got := s.LastReceived("tools/call"); strings.Contains(got, "inputResponses") || !strings.Contains(got, "deploy") {
			t.Errorf("%s", got)
		}
	})
}

// TestApprovedPromptsAndResources: a consent admits a prompt and a resource.
func TestApprovedPromptsAndResources(t *testing.T) {
	const rules = "require human-approval before resource:up\nrequire human-approval before \"prompt:up.letter\"\n"
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{Rules: rules, Server: testserver.Options{Capabilities: proxytest.AllCapabilities, Methods: map[string]testserver.Method{
			"prompts/list": proxytest.ConstantMethod(`{"prompts":[{"name":"letter"}]}`), "prompts/get": proxytest.ConstantMethod(`{"messages":[]}`),
			"resources/read": proxytest.ConstantMethod(`{"contents":[]}`),
		}}})
		c := s.Connect(l, proxytest.CanElicit)
		for method, params := range map[string]string{
			"prompts/get": `"name":"letter","arguments":{"to":"a"}`, "resources/read": `"uri":"a:1"`,
		} {
			q := c.AwaitQuestion("", "", c.Ask(method, params))
			var reply proxytest.Message
			if l.Modern {
				reply = c.Request(method, params+q.ReplyParams(proxytest.Approve))
			} else {
				reply = q.Answer(proxytest.Approve)
			}
			if reply.Result == nil || s.LastReceived(method) == "" {
				t.Errorf("%s after a consent: %s", method, reply.Raw)
			}
		}
	})
}
