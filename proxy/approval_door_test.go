package proxy_test

import (
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/proxy"
)

// TestAnswerWithoutQuestion: an answer counts only where the question was put. If a client was
// never shown the question, because the channel is not configured, the client cannot ask, or the
// question is too long, its answers do not count.
func TestAnswerWithoutQuestion(t *testing.T) {
	long := `{"a":"` + strings.Repeat("x", 40<<10) + `"}`
	for name, given := range map[string]struct {
		channels           proxy.Approval
		capabilities, args string
	}{
		"cli alone, and the client can ask":    {proxy.Approval{Channels: []string{"cli"}}, canElicit, `{}`},
		"cli alone, and the client cannot ask": {proxy.Approval{Channels: []string{"cli"}}, "", `{}`},
		"the client cannot ask":                {proxy.Approval{Channels: []string{"elicit", "cli"}}, "", `{}`},
		"the question is too long":             {proxy.Approval{Channels: []string{"elicit", "cli"}}, canElicit, long},
	} {
		t.Run(name, func(t *testing.T) {
			eachLeg(t, func(t *testing.T, l leg) {
				s := start(t, setup{change: func(o *proxy.Options) {
					o.Approval = given.channels
					o.Approval.Hold = atOnce
				}})
				c := s.connect(l, given.capabilities)
				for _, answer := range []string{approve, decline, cancel} {
					unasked(c, given.args, answer)
				}
				s.executed("deploy", 0)
				if all := s.proxy.Approvals(); len(all) != 1 || all[0].State != proxy.Pending {
					t.Errorf("what nobody was asked was answered: %+v", all)
				}
				if err := s.proxy.Resolve(s.pending(1)[0].ID, true, "ada", ""); err != nil {
					t.Fatal(err)
				}
				c.must("deploy", given.args)
				s.executed("deploy", 1)
			})
		})
	}
}

// unasked calls deploy, and sends an answer in each round without having been asked.
func unasked(c *client, args, answer string) {
	c.t.Helper()
	r := c.do("deploy", args)
	for round := 0; round < 20 && c.leg.modern && at(r.result, "resultType") == `"input_required"`; round++ {
		if at(r.result, "inputRequests") != "" {
			c.t.Fatalf("it was asked: %s", r.raw)
		}
		r = c.reply(c.callWith("deploy", args, "", `,"inputResponses":{"approval":`+answer+`},"requestState":`+at(r.result, "requestState")))
	}
	if r.decision("decision") != "ask" {
		c.t.Errorf("it does not wait: %s", r.raw)
	}
	if !c.leg.modern { // results of requests that were never sent
		for _, id := range []string{`"pg-"`, `"approval"`, `"` + r.decision("approval") + `"`, "1"} {
			c.send([]byte(`{"jsonrpc":"2.0","id":`+id+`,"result":`+answer+`}`), nil)
		}
	}
}

// TestStateOfAnotherRound: the state of a round without a question does not make the client's input
// an answer, even if the question is open elsewhere.
func TestStateOfAnotherRound(t *testing.T) {
	modernLegs(t, func(t *testing.T, l leg) {
		s := start(t, setup{change: func(o *proxy.Options) {
			o.Approval = proxy.Approval{Channels: []string{"elicit", "cli"}, Hold: time.Nanosecond}
		}})
		c := s.connect(l, "")
		blind := c.do("deploy", `{}`)
		if at(blind.result, "requestState") == "" || at(blind.result, "inputRequests") != "" {
			t.Fatalf("%s", blind.raw)
		}
		c.capabilities = canElicit
		q := c.asks("deploy", `{}`)
		id := c.callWith("deploy", `{}`, "", `,"inputResponses":{"approval":`+approve+`},"requestState":`+at(blind.result, "requestState"))
		c.asked("deploy", `{}`, id)
		s.executed("deploy", 0)
		if r := q.answer(approve); r.result == nil || r.isError() {
			t.Errorf("%s", r.raw)
		}
		s.executed("deploy", 1)
	})
}
