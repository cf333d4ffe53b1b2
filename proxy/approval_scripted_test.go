package proxy_test

import (
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/proxy"
)

// A scriptedClient calls one tool like an unattended program: it gives up a call after some time,
// answers questions automatically or not at all, and calls again when it is told to.
type scriptedClient struct {
	name         string
	capabilities string
	timeout      time.Duration // timeout of one call
	cancels      bool          // answer to each question, given at once

	*client
}

// calls calls the tool until it has a result, and has an operator approve after the first time that
// it is told to come back.
func (c *scriptedClient) calls(tool, args string) message {
	c.t.Helper()
	for n := 0; ; n++ {
		r := c.callOnce(tool, args)
		switch {
		case r.result == nil || n > 3:
			c.t.Fatalf("call %d: %s", n, r.raw)
		case !r.isError():
			if n == 0 {
				c.t.Error("it was not told to come back")
			}
			return r
		case !strings.Contains(r.text(), "Call the same tool again with the same arguments"):
			c.t.Fatalf("call %d: %s", n, r.raw)
		case n == 0:
			if err := c.proxy.Resolve(c.pending(1)[0].ID, true, "ada", ""); err != nil {
				c.t.Fatal(err)
			}
		}
	}
}

// callOnce makes one call, in several rounds if the revision has them.
func (c *scriptedClient) callOnce(tool, args string) message {
	c.t.Helper()
	id := c.call(tool, args)
	for {
		current := id
		givesUp := time.AfterFunc(c.timeout, func() { c.cancel(current) }) // then there is no reply
		m := c.await("a question or a reply", func(m message) bool {
			return m.method == "elicitation/create" && c.cancels || m.method == "" && m.id == current
		})
		givesUp.Stop()
		switch {
		case m.method != "":
			c.send([]byte(`{"jsonrpc":"2.0","id":`+m.id+`,"result":`+cancel+`}`), nil)
		case at(m.result, "resultType") != `"input_required"`:
			return m
		default:
			again := `,"requestState":` + at(m.result, "requestState")
			if at(m.result, "inputRequests") != "" {
				again = `,"inputResponses":{"approval":` + cancel + `}` + again
			}
			id = c.callWith(tool, args, "", again)
		}
	}
}

// TestScriptedClients: whatever a client does while a person thinks, its call is executed once when
// an operator has approved it, and the client gets no protocol error.
func TestScriptedClients(t *testing.T) {
	holds := map[string]time.Duration{"usual": 45 * time.Millisecond, "hasty": 8 * time.Millisecond, "mute": 45 * time.Millisecond, "headless": 45 * time.Millisecond} // at a thousandth of the real times
	eachLeg(t, func(t *testing.T, l leg) {
		unanswered := canElicit // no person sees the form
		if l.modern {           // the client itself waits for its user
			unanswered = ""
		}
		for _, script := range []scriptedClient{
			{name: "usual", capabilities: unanswered, timeout: time.Minute},
			{name: "hasty", capabilities: unanswered, timeout: 10 * time.Second},
			{name: "mute", timeout: time.Minute},
			{name: "headless", capabilities: canElicit, timeout: time.Minute, cancels: true},
			{name: "headless", capabilities: canBoth, timeout: time.Minute, cancels: true},
			{name: "headless", capabilities: canOpen, timeout: time.Minute, cancels: true},
		} {
			s := start(t, setup{change: func(o *proxy.Options) {
				o.Approval = proxy.Approval{
					Channels: []string{"elicit", "url", "cli"}, Page: func(id string) string { return "http://127.0.0.1:7780/a/" + id },
					HoldFor: func(client string) time.Duration { return holds[client] },
				}
			}})
			s.clientName = script.name
			script.client = s.connect(l, script.capabilities)
			if r := script.calls("deploy", `{"env":"prod"}`); r.text() == "" {
				t.Errorf("%s: %s", script.name, r.raw)
			}
			s.executed("deploy", 1)
			if n := script.mail.count(func(m message) bool { return m.err != nil }); n != 0 {
				t.Errorf("%s: errors: %s", script.name, script.mail)
			}
			if allow := s.records.decisions("allow"); len(allow) != 1 || allow[0].Channel != "cli" || allow[0].Actor != "ada" {
				t.Errorf("%s: %+v", script.name, allow)
			}
		}
	})
}
