package proxy_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// answeredForNothing sends the answer of q, and fails if that runs anything: a client with rounds
// is asked anew, another one is refused.
func (q question) answeredForNothing(answer string) {
	q.c.t.Helper()
	if q.c.leg.modern {
		q.c.asked(q.tool, q.args, q.send(answer))
		return
	}
	if r := q.answer(answer); !r.isError() {
		q.c.t.Errorf("%s", r.raw)
	}
}

// TestReloadWhilePending: B007. An approval under one policy admits no call under another one,
// whether the call waits, was told to come back, or comes with the answer.
func TestReloadWhilePending(t *testing.T) {
	const other = "require human-approval before deploy\nblock read\n"
	reload := func(s *site, rules string) {
		s.t.Helper()
		if _, err := s.proxy.Reload(s.t.Context(), proxy.Replacement{Policy: policyOf(s.t, rules)}); err != nil {
			s.t.Fatal(err)
		}
	}
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, byOperator(time.Hour))
		c := s.connect(l, "")
		id := c.call("deploy", `{}`)
		question := s.only()
		reload(s, other)
		if err := s.answer(question, "cli", true); err != nil {
			t.Fatal(err)
		}
		if r := c.reply(id); !r.isError() || !strings.Contains(r.text(), "policy changed") {
			t.Errorf("%s", r.raw)
		}
		s.executed("deploy", 0)

		s = start(t, byOperator(atOnce))
		c = s.connect(l, "")
		parked := c.parked("deploy", `{}`)
		if err := s.answer(parked, "cli", true); err != nil {
			t.Fatal(err)
		}
		reload(s, other)
		if again := c.parked("deploy", `{}`); again == parked {
			t.Error("a consent under one policy counts under another")
		}
		s.executed("deploy", 0)

		s = start(t, setup{})
		c = s.connect(l, canElicit)
		q := c.asks("deploy", `{}`)
		reload(s, other)
		q.answeredForNothing(approve)
		s.executed("deploy", 0)
		reload(s, other) // reload of the same policy: the next question is unaffected
		q = c.asks("deploy", `{"n":2}`)
		reload(s, other)
		if r := q.answer(approve); r.result == nil || r.isError() {
			t.Errorf("%s", r.raw)
		}
		s.executed("deploy", 1)
	})
}

// TestSwappedWhilePending: B008. A consent applies to the tool as it was when the person was asked. It
// does not apply to another tool of the same name, or to a tool that was removed and came back changed.
func TestSwappedWhilePending(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		swap := func(s *site, c *client) {
			other := testserver.Attack()[0]
			other.Name, other.Description = "deploy", "Drops the database."
			s.upstream.RemoveTool("deploy")
			s.upstream.AddTool(other)
			s.eventually("the list is another", func() bool { return strings.Contains(string(c.list().raw), "Drops") })
		}
		s := start(t, byOperator(atOnce))
		c := s.connect(l, "")
		s.awaitSubscribed()
		parked := c.parked("deploy", `{}`)
		if err := s.answer(parked, "cli", true); err != nil {
			t.Fatal(err)
		}
		swap(s, c)
		if again := c.parked("deploy", `{}`); again == parked {
			t.Error("the consent counts for another tool")
		}
		s.executed("deploy", 0)

		s = start(t, setup{})
		c = s.connect(l, canElicit)
		s.awaitSubscribed()
		q := c.asks("deploy", `{}`)
		swap(s, c)
		q.answeredForNothing(approve)
		s.executed("deploy", 0)
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
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, byOperator(atOnce))
		c := s.connect(l, "")
		id := c.parked("deploy", shown)
		if err := s.answer(id, "cli", true); err != nil {
			t.Fatal(err)
		}
		for _, other := range others {
			if again := c.parked("deploy", other); again == id {
				t.Errorf("%s runs by the consent to %s", other, shown)
			}
		}
		s.executed("deploy", 0)
		c.must("deploy", shown)

		s = start(t, setup{})
		c = s.connect(l, canElicit)
		q := c.asks("deploy", shown)
		for _, other := range others {
			if other == "" {
				continue // with rounds it is the same as {}
			}
			o := q
			o.args = other
			if l.modern {
				o.answeredForNothing(approve) // nor while the client itself is asked
				o.answeredForNothing(approve)
			} else { // another question, which the answer to the first does not answer
				c.asks("deploy", other)
			}
		}
		s.executed("deploy", 0)
		if r := q.answer(approve); r.result == nil || r.isError() {
			t.Errorf("%s", r.raw)
		}
		c.must("safe", `{}`)
		s.executed("deploy", 1)
		if got := s.log.Records(testserver.Executed); string(got[0].Args) != shown {
			t.Errorf("executed with %s", got[0].Args)
		}
	})
}

// TestConsentElsewhere: B011. A consent to one tool is not valid for a tool of the same name at
// another upstream, nor for a prompt of that name.
func TestConsentElsewhere(t *testing.T) {
	const rules = "require human-approval before *same\nrequire human-approval before \"prompt:c.same\"\n"
	eachLeg(t, func(t *testing.T, l leg) {
		var logs [2]testserver.Log
		set := func(channels ...string) setup {
			return setup{rules: rules, server: testserver.Options{Tools: []testserver.Tool{plainTool("other")}, Capabilities: whole, Methods: map[string]testserver.Method{
				"prompts/list": says(`{"prompts":[{"name":"same"}]}`), "prompts/get": says(`{"messages":[]}`),
			}}, change: func(o *proxy.Options) {
				o.Upstreams[0].Name = "c"
				o.Upstreams = append(o.Upstreams, upstreamOf(t, "a", &logs[0], plainTool("same")), upstreamOf(t, "b", &logs[1], plainTool("same")))
				o.Approval = proxy.Approval{Channels: channels, Hold: atOnce}
			}}
		}
		s := start(t, set("cli"))
		c := s.connect(l, "")
		id := c.parked("a_same", `{}`)
		if err := s.answer(id, "cli", true); err != nil {
			t.Fatal(err)
		}
		if again := c.parked("b_same", `{}`); again == id {
			t.Error("the consent counts at another upstream")
		}
		c.request("prompts/get", `"name":"same","arguments":{}`)
		if n := logs[0].Executed("") + logs[1].Executed(""); n != 0 || s.received("prompts/get") != "" {
			t.Errorf("%d were executed, and %s", n, s.received("prompts/get"))
		}
		c.must("a_same", `{}`)

		if !l.modern {
			return // on this leg an answer has no state that could be sent elsewhere
		}
		s = start(t, set("elicit"))
		c = s.connect(l, canElicit)
		q := c.asks("a_same", `{}`)
		o := q
		o.tool = "b_same"
		o.answeredForNothing(approve)
		if r := c.request("prompts/get", `"name":"same","arguments":{}`+q.with(approve)); at(r.result, "messages") != "" {
			t.Errorf("%s", r.raw)
		}
		if n := logs[0].Executed("") + logs[1].Executed(""); n != 1 || s.received("prompts/get") != "" {
			t.Errorf("%d were executed, and %s", n, s.received("prompts/get"))
		}
	})
}

// TestConsentOfAnother: B012. One principal or session cannot answer the questions of another, nor
// use up its approvals.
func TestConsentOfAnother(t *testing.T) {
	tokens := map[string]string{"ann": "token of ann", "bob": "token of bob"}
	eachLeg(t, func(t *testing.T, l leg) {
		connect := func(s *site, who, capabilities string) *client {
			c := s.unconnected(l)
			c.bearer, c.capabilities = tokens[who], capabilities
			if !l.modern {
				c.initialize()
			}
			return c
		}
		s := start(t, setup{})
		s.door(proxy.Access{Tokens: tokens})
		ann, bob := connect(s, "ann", canElicit), connect(s, "bob", canElicit)
		q := ann.asks("deploy", `{}`)
		theirs := q.at(bob)
		if l.modern {
			theirs.answeredForNothing(approve)
		} else {
			theirs.send(approve)
			bob.must("safe", `{}`)
		}
		s.executed("deploy", 0)
		if r := q.answer(approve); r.result == nil || r.isError() {
			t.Errorf("%s", r.raw)
		}
		s.executed("deploy", 1)

		s = start(t, byOperator(atOnce))
		s.door(proxy.Access{Tokens: tokens})
		ann, bob = connect(s, "ann", "{}"), connect(s, "bob", "{}")
		id := ann.parked("deploy", `{}`)
		if err := s.answer(id, "cli", true); err != nil {
			t.Fatal(err)
		}
		if l.http && !l.modern {
			own := bob.session
			bob.session = ann.session
			bob.call("deploy", `{}`)
			bob.await("404", func(m message) bool { return m.status == 404 })
			bob.session = own
		}
		if again := bob.parked("deploy", `{}`); again == id {
			t.Error("the consent of one counts for another")
		}
		s.executed("deploy", 0)
		ann.must("deploy", `{}`)
		s.executed("deploy", 1)
	})
}

// TestStateIsWhole: B014. A requestState in another encoding counts as missing, on the legs that
// have one; on the others there is nothing to forge.
func TestStateIsWhole(t *testing.T) {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	eachLeg(t, func(t *testing.T, l leg) {
		s, elsewhere := start(t, setup{}), start(t, setup{})
		c := s.connect(l, canElicit)
		q := c.asks("deploy", `{}`)
		if !l.modern {
			for _, state := range []string{`""`, `"x"`, `"AAAA"`, `null`, `{}`} {
				c.callWith("deploy", `{}`, "", `,"inputResponses":{"approval":`+approve+`},"requestState":`+state)
			}
			c.must("safe", `{}`)
			s.executed("deploy", 0)
			return
		}
		state, err := strconv.Unquote(q.state)
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
		foreign, err := strconv.Unquote(elsewhere.connect(l, canElicit).asks("deploy", `{}`).state)
		if err != nil {
			t.Fatal(err)
		}
		half := len(state) / 2
		for _, f := range append(forged, foreign, state[:half]+foreign[half:], foreign[:half]+state[half:]) {
			bad := q
			bad.state = strconv.Quote(f)
			bad.answeredForNothing(approve)
		}
		s.executed("deploy", 0)
		if r := q.answer(approve); r.result == nil || r.isError() { // the original state was valid all the time
			t.Errorf("%s", r.raw)
		}
		s.executed("deploy", 1)
	})
}

// TestClockJumps: B047. A clock that jumps neither answers questions nor revives consents: forward,
// all of them expire; back, expired ones stay expired.
func TestClockJumps(t *testing.T) {
	const day = 24 * time.Hour
	for _, jump := range []time.Duration{day, -day} {
		eachLeg(t, func(t *testing.T, l leg) {
			now := newClock()
			s := start(t, setup{change: func(o *proxy.Options) {
				o.Approval = proxy.Approval{Channels: []string{"elicit", "web", "cli"}, Hold: atOnce}
				o.Now = now.Now
			}})
			c := s.connect(l, "")
			id := func(n int) (args, id string) {
				args = fmt.Sprintf(`{"n":%d}`, n)
				return args, c.parked("deploy", args)
			}
			open, openID := id(1)
			approved, approvedID := id(2)
			used, usedID := id(3)
			denied, deniedID := id(4)
			for id, yes := range map[string]bool{approvedID: true, usedID: true, deniedID: false} {
				if err := s.answer(id, "web", yes); err != nil {
					t.Fatal(err)
				}
			}
			c.must("deploy", used)
			now.move(jump)
			s.executed("deploy", 1)
			if again := c.parked("deploy", used); again == usedID {
				t.Error("a consent is good twice")
			}
			if jump > 0 {
				for args, id := range map[string]string{open: openID, approved: approvedID, denied: deniedID} {
					if err := s.answer(id, "cli", true); err == nil {
						t.Errorf("%s was answered a day too late", args)
					}
					if again := c.parked("deploy", args); again == id {
						t.Errorf("%s is good a day too late", args)
					}
				}
				now.move(-jump) // nothing is revived when the clock goes back
				for args, id := range map[string]string{open: openID, approved: approvedID, denied: deniedID} {
					if again := c.parked("deploy", args); again == id {
						t.Errorf("%s is back", args)
					}
				}
				s.executed("deploy", 1)
				return
			}
			if r := c.do("deploy", denied); r.decision("decision") != "refuse" {
				t.Errorf("a denial is over before its time: %s", r.raw)
			}
			if again := c.parked("deploy", open); again != openID {
				t.Errorf("asked anew: %s", again)
			}
			c.must("deploy", approved) // once
			if again := c.parked("deploy", approved); again == approvedID {
				t.Error("a consent is good twice")
			}
			now.move(day + 15*time.Minute)
			if err := s.answer(openID, "cli", true); err == nil {
				t.Error("answered too late by the first clock")
			}
			s.executed("deploy", 2)
		})
	}
}
