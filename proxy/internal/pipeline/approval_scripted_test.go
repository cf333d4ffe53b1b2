package pipeline_test

import (
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/proxy"
)

// A scriptedClient calls one tool like an unattended program: it gives up a call after some time,
// answers questions automatically or not at all, and calls again when it is told to.
type scriptedClient struct {
	name         string
	capabilities string
	timeout      time.Duration // timeout of one call
	cancels      bool          // answer to each question, given at once

	*proxytest.Client
}

// calls calls the tool until it has a result, and has an operator approve after the first time that
// it is told to come back.
func (c *scriptedClient) calls(tool, args string) proxytest.Message {
	c.T.Helper()
	for n := 0; ; n++ {
		r := c.callOnce(tool, args)
		switch {
		case r.Result == nil || n > 3:
			c.T.Fatalf("call %d: %s", n, r.Raw)
		case !r.IsError():
			if n == 0 {
				c.T.Error("it was not told to come back")
			}
			return r
		case !strings.Contains(r.Text(), "Call the same tool again with the same arguments"):
			c.T.Fatalf("call %d: %s", n, r.Raw)
		case n == 0:
			if err := c.Proxy.Resolve(c.AwaitPending(1)[0].ID, true, "ada", ""); err != nil {
				c.T.Fatal(err)
			}
		}
	}
}

// callOnce makes one call, in several rounds if the revision has them.
func (c *scriptedClient) callOnce(tool, args string) proxytest.Message {
	c.T.Helper()
	id := c.Call(tool, args)
	for {
		current := id
		givesUp := time.AfterFunc(c.timeout, func() { c.Cancel(current) }) // then no reply comes
		m := c.Await("a question or a reply", func(m proxytest.Message) bool {
			return m.Method == "elicitation/create" && c.cancels || m.Method == "" && m.ID == current
		})
		givesUp.Stop()
		switch {
		case m.Method != "":
			c.Send([]byte(`{"jsonrpc":"2.0","id":`+m.ID+`,"result":`+proxytest.Cancel+`}`), nil)
		case proxytest.Member(m.Result, "resultType") != `"input_required"`:
			return m
		default:
			again := `,"requestState":` + proxytest.Member(m.Result, "requestState")
			if proxytest.Member(m.Result, "inputRequests") != "" {
				again = `,"inputResponses":{"approval":` + proxytest.Cancel + `}` + again
			}
			id = c.CallWith(tool, args, "", again)
		}
	}
}

// TestScriptedClients: whatever a client does while a person thinks, its call is executed once when
// an operator has approved it, and the client gets no protocol error.
func TestScriptedClients(t *testing.T) {
	holds := map[string]time.Duration{"usual": 45 * time.Millisecond, "hasty": 8 * time.Millisecond, "mute": 45 * time.Millisecond, "headless": 45 * time.Millisecond} // at a thousandth of the real times
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		unanswered := proxytest.CanElicit // no person sees the form
		if l.Modern {                     // the client itself waits for its user
			unanswered = ""
		}
		for _, script := range []scriptedClient{
			{name: "usual", capabilities: unanswered, timeout: time.Minute},
			{name: "hasty", capabilities: unanswered, timeout: 10 * time.Second},
			{name: "mute", timeout: time.Minute},
			{name: "headless", capabilities: proxytest.CanElicit, timeout: time.Minute, cancels: true},
			{name: "headless", capabilities: canBoth, timeout: time.Minute, cancels: true},
			{name: "headless", capabilities: canOpen, timeout: time.Minute, cancels: true},
		} {
			s := proxytest.Start(t, proxytest.Setup{Change: func(o *proxy.Options) {
				o.Approval = proxy.Approval{
					Channels: []string{"elicit", "url", "cli"}, Page: func(id string) string { return "http://127.0.0.1:7780/a/" + id },
					HoldFor: func(client string) time.Duration { return holds[client] },
				}
			}})
			s.ClientName = script.name
			script.Client = s.Connect(l, script.capabilities)
			if r := script.calls("deploy", `{"env":"prod"}`); r.Text() == "" {
				t.Errorf("%s: %s", script.name, r.Raw)
			}
			s.Executed("deploy", 1)
			if n := script.Mail.Count(func(m proxytest.Message) bool { return m.Error != nil }); n != 0 {
				t.Errorf("%s: errors: %s", script.name, script.Mail)
			}
			if allow := s.Records.Decisions("allow"); len(allow) != 1 || allow[0].Channel != "cli" || allow[0].Actor != "ada" {
				t.Errorf("%s: %+v", script.name, allow)
			}
		}
	})
}
