package proxy_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// answeredForNothing sends the answer of q, and fails if that runs anything: a client with rounds
// is asked anew, another one is refused.
func answeredForNothing(q proxytest.Question, answer string) {
	q.Client.T.Helper()
	if q.Client.Leg.Modern {
		q.Client.AwaitQuestion(q.Tool, q.Args, q.Send(answer))
		return
	}
	if r := q.Answer(answer); !r.IsError() {
		q.Client.T.Errorf("%s", r.Raw)
	}
}

// TestReloadWhilePending: B007. An approval under one policy admits no call under another one,
// whether the call waits, was told to come back, or comes with the answer.
func TestReloadWhilePending(t *testing.T) {
	const other = "require human-approval before deploy\nblock read\n"
	reload := func(s *proxytest.Site, rules string) {
		s.T.Helper()
		if _, err := s.Proxy.Reload(s.T.Context(), proxy.Replacement{Policy: proxytest.PolicyOf(s.T, rules)}); err != nil {
			s.T.Fatal(err)
		}
	}
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.OperatorSetup(time.Hour))
		c := s.Connect(l, "")
		id := c.Call("deploy", `{}`)
		question := onlyApproval(s)
		reload(s, other)
		if err := answer(s, question, "cli", true); err != nil {
			t.Fatal(err)
		}
		if r := c.Reply(id); !r.IsError() || !strings.Contains(r.Text(), "policy changed") {
			t.Errorf("%s", r.Raw)
		}
		s.Executed("deploy", 0)

		s = proxytest.Start(t, proxytest.OperatorSetup(proxytest.ParkAtOnce))
		c = s.Connect(l, "")
		parked := c.Parks("deploy", `{}`)
		if err := answer(s, parked, "cli", true); err != nil {
			t.Fatal(err)
		}
		reload(s, other)
		if again := c.Parks("deploy", `{}`); again == parked {
			t.Error("a consent under one policy counts under another")
		}
		s.Executed("deploy", 0)

		s = proxytest.Start(t, proxytest.Setup{})
		c = s.Connect(l, proxytest.CanElicit)
		q := c.Asks("deploy", `{}`)
		reload(s, other)
		answeredForNothing(q, proxytest.Approve)
		s.Executed("deploy", 0)
		reload(s, other) // reload of the same policy: the next question is unaffected
		q = c.Asks("deploy", `{"n":2}`)
		reload(s, other)
		if r := q.Answer(proxytest.Approve); r.Result == nil || r.IsError() {
			t.Errorf("%s", r.Raw)
		}
		s.Executed("deploy", 1)
	})
}

// TestSwappedWhilePending: B008. A consent applies to the tool definition that the person saw. It
// does not apply to another tool of the same name, or to a tool that was removed and came back changed.
func TestSwappedWhilePending(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		swap := func(s *proxytest.Site, c *proxytest.Client) {
			other := testserver.Attack()[0]
			other.Name, other.Description = "deploy", "Drops the database."
			s.Upstream.RemoveTool("deploy")
			s.Upstream.AddTool(other)
			s.Eventually("the list is another", func() bool { return strings.Contains(string(c.List().Raw), "Drops") })
		}
		s := proxytest.Start(t, proxytest.OperatorSetup(proxytest.ParkAtOnce))
		c := s.Connect(l, "")
		s.AwaitSubscribed()
		parked := c.Parks("deploy", `{}`)
		if err := answer(s, parked, "cli", true); err != nil {
			t.Fatal(err)
		}
		swap(s, c)
		if again := c.Parks("deploy", `{}`); again == parked {
			t.Error("the consent counts for another tool")
		}
		s.Executed("deploy", 0)

		s = proxytest.Start(t, proxytest.Setup{})
		c = s.Connect(l, proxytest.CanElicit)
		s.AwaitSubscribed()
		q := c.Asks("deploy", `{}`)
		swap(s, c)
		answeredForNothing(q, proxytest.Approve)
		s.Executed("deploy", 0)
	})
}

// TestNearlyTheCall: B010. A consent is for the very bytes that were shown: with members in another
// order, other numbers, spaces or escapes it is another call.
func TestNearlyTheCall(t *testing.T) {
	const shown = `{"env":"staging","n":1}`
	others := []string{
		`{"env":"prod","n":1}`, `{"n":1,"env":"staging"}`, `{"env":"staging","n":1.0}`, `{"env":"staging","n":1e0}`, `{"env":"staging","n":"1"}`,
		`{"env":"staging","n":1,"x":0}`, `{"env":"staging"}`, `{"env": "staging","n":1}`, `{"env":"st\u0061ging","n":1}`, `{"ENV":"staging","n":1}`, `{}`, ``,
	}
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.OperatorSetup(proxytest.ParkAtOnce))
		c := s.Connect(l, "")
		id := c.Parks("deploy", shown)
		if err := answer(s, id, "cli", true); err != nil {
			t.Fatal(err)
		}
		for _, other := range others {
			if again := c.Parks("deploy", other); again == id {
				t.Errorf("%s runs by the consent to %s", other, shown)
			}
		}
		s.Executed("deploy", 0)
		c.Must("deploy", shown)

		s = proxytest.Start(t, proxytest.Setup{})
		c = s.Connect(l, proxytest.CanElicit)
		q := c.Asks("deploy", shown)
		for _, other := range others {
			if other == "" {
				continue // with rounds it is the same as {}
			}
			o := q
			o.Args = other
			if l.Modern {
				answeredForNothing(o, proxytest.Approve) // nor while the client itself is asked
				answeredForNothing(o, proxytest.Approve)
			} else { // another question, which the answer to the first does not answer
				c.Asks("deploy", other)
			}
		}
		s.Executed("deploy", 0)
		if r := q.Answer(proxytest.Approve); r.Result == nil || r.IsError() {
			t.Errorf("%s", r.Raw)
		}
		c.Must("safe", `{}`)
		s.Executed("deploy", 1)
		if got := s.Log.Records(testserver.Executed); string(got[0].Args) != shown {
			t.Errorf("executed with %s", got[0].Args)
		}
	})
}

// TestConsentElsewhere: B011. A consent to one tool is not valid for a tool of the same name at
// another upstream, nor for a prompt of that name.
func TestConsentElsewhere(t *testing.T) {
	const rules = "require human-approval before *same\nrequire human-approval before \"prompt:c.same\"\n"
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		var logs [2]testserver.Log
		set := func(channels ...string) proxytest.Setup {
			return proxytest.Setup{Rules: rules, Server: testserver.Options{Tools: []testserver.Tool{proxytest.PlainTool("other")}, Capabilities: proxytest.AllCapabilities, Methods: map[string]testserver.Method{
				"prompts/list": proxytest.ConstantMethod(`{"prompts":[{"name":"same"}]}`), "prompts/get": proxytest.ConstantMethod(`{"messages":[]}`),
			}}, Change: func(o *proxy.Options) {
				o.Upstreams[0].Name = "c"
				o.Upstreams = append(o.Upstreams, proxytest.ServeTools(t, "a", &logs[0], proxytest.PlainTool("same")), proxytest.ServeTools(t, "b", &logs[1], proxytest.PlainTool("same")))
				o.Approval = proxy.Approval{Channels: channels, Hold: proxytest.ParkAtOnce}
			}}
		}
		s := proxytest.Start(t, set("cli"))
		c := s.Connect(l, "")
		id := c.Parks("a_same", `{}`)
		if err := answer(s, id, "cli", true); err != nil {
			t.Fatal(err)
		}
		if again := c.Parks("b_same", `{}`); again == id {
			t.Error("the consent counts at another upstream")
		}
		c.Request("prompts/get", `"name":"same","arguments":{}`)
		if n := logs[0].Executed("") + logs[1].Executed(""); n != 0 || s.LastReceived("prompts/get") != "" {
			t.Errorf("%d were executed, and %s", n, s.LastReceived("prompts/get"))
		}
		c.Must("a_same", `{}`)

		if !l.Modern {
			return // on this leg an answer has no state that could be sent elsewhere
		}
		s = proxytest.Start(t, set("elicit"))
		c = s.Connect(l, proxytest.CanElicit)
		q := c.Asks("a_same", `{}`)
		o := q
		o.Tool = "b_same"
		answeredForNothing(o, proxytest.Approve)
		if r := c.Request("prompts/get", `"name":"same","arguments":{}`+q.ReplyParams(proxytest.Approve)); proxytest.Member(r.Result, "messages") != "" {
			t.Errorf("%s", r.Raw)
		}
		if n := logs[0].Executed("") + logs[1].Executed(""); n != 1 || s.LastReceived("prompts/get") != "" {
			t.Errorf("%d were executed, and %s", n, s.LastReceived("prompts/get"))
		}
	})
}

// TestConsentOfAnother: B012. One principal or session cannot answer the questions of another, nor
// use up its approvals.
func TestConsentOfAnother(t *testing.T) {
	tokens := map[string]string{"ann": "token of ann", "bob": "token of bob"}
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		connect := func(s *proxytest.Site, who, capabilities string) *proxytest.Client {
			c := s.UnconnectedClient(l)
			c.Bearer, c.Capabilities = tokens[who], capabilities
			if !l.Modern {
				c.Initialize()
			}
			return c
		}
		s := proxytest.Start(t, proxytest.Setup{})
		s.ServeWith(proxy.Access{Tokens: tokens})
		ann, bob := connect(s, "ann", proxytest.CanElicit), connect(s, "bob", proxytest.CanElicit)
		q := ann.Asks("deploy", `{}`)
		theirs := q.ReceivedBy(bob)
		if l.Modern {
			answeredForNothing(theirs, proxytest.Approve)
		} else {
			theirs.Send(proxytest.Approve)
			bob.Must("safe", `{}`)
		}
		s.Executed("deploy", 0)
		if r := q.Answer(proxytest.Approve); r.Result == nil || r.IsError() {
			t.Errorf("%s", r.Raw)
		}
		s.Executed("deploy", 1)

		s = proxytest.Start(t, proxytest.OperatorSetup(proxytest.ParkAtOnce))
		s.ServeWith(proxy.Access{Tokens: tokens})
		ann, bob = connect(s, "ann", "{}"), connect(s, "bob", "{}")
		id := ann.Parks("deploy", `{}`)
		if err := answer(s, id, "cli", true); err != nil {
			t.Fatal(err)
		}
		if l.HTTP && !l.Modern {
			own := bob.Session
			bob.Session = ann.Session
			bob.Call("deploy", `{}`)
			bob.Await("404", func(m proxytest.Message) bool { return m.Status == 404 })
			bob.Session = own
		}
		if again := bob.Parks("deploy", `{}`); again == id {
			t.Error("the consent of one counts for another")
		}
		s.Executed("deploy", 0)
		ann.Must("deploy", `{}`)
		s.Executed("deploy", 1)
	})
}

// TestStateIsWhole: B014. A requestState in another encoding counts as missing, on the legs that
// have one; on the others there is nothing to forge.
func TestStateIsWhole(t *testing.T) {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s, elsewhere := proxytest.Start(t, proxytest.Setup{}), proxytest.Start(t, proxytest.Setup{})
		c := s.Connect(l, proxytest.CanElicit)
		q := c.Asks("deploy", `{}`)
		if !l.Modern {
			for _, state := range []string{`""`, `"x"`, `"AAAA"`, `null`, `{}`} {
				c.CallWith("deploy", `{}`, "", `,"inputResponses":{"approval":`+proxytest.Approve+`},"requestState":`+state)
			}
			c.Must("safe", `{}`)
			s.Executed("deploy", 0)
			return
		}
		state, err := strconv.Unquote(q.State)
		if err != nil {
			t.Fatal(err)
		}
		last := len(state) - 1
		forged := []string{state + "\n", "\n" + state, state[:9] + "\r\n" + state[9:], state + "=", state + "==", state + state, strings.NewReplacer("-", "+", "_", "/").Replace(state) + "+"}
		for _, b := range alphabet { // the last character has unused bits
			if byte(b) != state[last] {
				forged = append(forged, state[:last]+string(b))
			}
		}
		foreign, err := strconv.Unquote(elsewhere.Connect(l, proxytest.CanElicit).Asks("deploy", `{}`).State)
		if err != nil {
			t.Fatal(err)
		}
		half := len(state) / 2
		for _, f := range append(forged, foreign, state[:half]+foreign[half:], foreign[:half]+state[half:]) {
			bad := q
			bad.State = strconv.Quote(f)
			answeredForNothing(bad, proxytest.Approve)
		}
		s.Executed("deploy", 0)
		if r := q.Answer(proxytest.Approve); r.Result == nil || r.IsError() { // the original state was valid all the time
			t.Errorf("%s", r.Raw)
		}
		s.Executed("deploy", 1)
	})
}

// TestClockJumps: B047. A clock that jumps neither answers questions nor revives consents: forward,
// all of them expire; back, expired ones stay expired.
func TestClockJumps(t *testing.T) {
	const day = 24 * time.Hour
	for _, jump := range []time.Duration{day, -day} {
		proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
			now := proxytest.NewClock()
			s := proxytest.Start(t, proxytest.Setup{Change: func(o *proxy.Options) {
				o.Approval = proxy.Approval{Channels: []string{"elicit", "web", "cli"}, Hold: proxytest.ParkAtOnce}
				o.Now = now.Now
			}})
			c := s.Connect(l, "")
			id := func(n int) (args, id string) {
				args = fmt.Sprintf(`{"n":%d}`, n)
				return args, c.Parks("deploy", args)
			}
			open, openID := id(1)
			approved, approvedID := id(2)
			used, usedID := id(3)
			denied, deniedID := id(4)
			for id, yes := range map[string]bool{approvedID: true, usedID: true, deniedID: false} {
				if err := answer(s, id, "web", yes); err != nil {
					t.Fatal(err)
				}
			}
			c.Must("deploy", used)
			now.Move(jump)
			s.Executed("deploy", 1)
			if again := c.Parks("deploy", used); again == usedID {
				t.Error("a consent is good twice")
			}
			if jump > 0 {
				for args, id := range map[string]string{open: openID, approved: approvedID, denied: deniedID} {
					if err := answer(s, id, "cli", true); err == nil {
						t.Errorf("%s was answered a day too late", args)
					}
					if again := c.Parks("deploy", args); again == id {
						t.Errorf("%s is good a day too late", args)
					}
				}
				now.Move(-jump) // nothing is revived when the clock goes back
				for args, id := range map[string]string{open: openID, approved: approvedID, denied: deniedID} {
					if again := c.Parks("deploy", args); again == id {
						t.Errorf("%s is back", args)
					}
				}
				s.Executed("deploy", 1)
				return
			}
			if r := c.Do("deploy", denied); r.Decision("decision") != "refuse" {
				t.Errorf("a denial is over before its time: %s", r.Raw)
			}
			if again := c.Parks("deploy", open); again != openID {
				t.Errorf("asked anew: %s", again)
			}
			c.Must("deploy", approved) // once
			if again := c.Parks("deploy", approved); again == approvedID {
				t.Error("a consent is good twice")
			}
			now.Move(day + 15*time.Minute)
			if err := answer(s, openID, "cli", true); err == nil {
				t.Error("answered too late by the first clock")
			}
			s.Executed("deploy", 2)
		})
	}
}
