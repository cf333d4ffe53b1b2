package pipeline_test

import (
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/proxytest"
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
		"cli alone, and the client can ask":    {proxy.Approval{Channels: []string{"cli"}}, proxytest.CanElicit, `{}`},
		"cli alone, and the client cannot ask": {proxy.Approval{Channels: []string{"cli"}}, "", `{}`},
		"the client cannot ask":                {proxy.Approval{Channels: []string{"elicit", "cli"}}, "", `{}`},
		"the question is too long":             {proxy.Approval{Channels: []string{"elicit", "cli"}}, proxytest.CanElicit, long},
	} {
		t.Run(name, func(t *testing.T) {
			proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
				s := proxytest.Start(t, proxytest.Setup{Change: func(o *proxy.Options) {
					o.Approval = given.channels
					o.Approval.Hold = proxytest.ParkAtOnce
				}})
				c := s.Connect(l, given.capabilities)
				for _, answer := range []string{proxytest.Approve, proxytest.Decline, proxytest.Cancel} {
					unasked(c, given.args, answer)
				}
				s.Executed("deploy", 0)
				if all := s.Proxy.Approvals(); len(all) != 1 || all[0].State != proxy.Pending {
					t.Errorf("what nobody was asked was answered: %+v", all)
				}
				if err := s.Proxy.Resolve(s.AwaitPending(1)[0].ID, true, "ada", ""); err != nil {
					t.Fatal(err)
				}
				c.Must("deploy", given.args)
				s.Executed("deploy", 1)
			})
		})
	}
}

// unasked calls deploy, and sends an answer in each round without having been asked.
func unasked(c *proxytest.Client, args, answer string) {
	c.T.Helper()
	r := c.Do("deploy", args)
	for round := 0; round < 20 && c.Leg.Modern && proxytest.Member(r.Result, "resultType") == `"input_required"`; round++ {
		if proxytest.Member(r.Result, "inputRequests") != "" {
			c.T.Fatalf("it was asked: %s", r.Raw)
		}
		r = c.Reply(c.CallWith("deploy", args, "", `,"inputResponses":{"approval":`+answer+`},"requestState":`+proxytest.Member(r.Result, "requestState")))
	}
	if r.Decision("decision") != "ask" {
		c.T.Errorf("it does not wait: %s", r.Raw)
	}
	if !c.Leg.Modern { // results of requests that were never sent
		for _, id := range []string{`"pg-"`, `"approval"`, `"` + r.Decision("approval") + `"`, "1"} {
			c.Send([]byte(`{"jsonrpc":"2.0","id":`+id+`,"result":`+answer+`}`), nil)
		}
	}
}

// TestStateOfAnotherRound: the state of a round without a question does not make the client's input
// an answer, even if the question is open elsewhere.
func TestStateOfAnotherRound(t *testing.T) {
	proxytest.ModernLegs(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{Change: func(o *proxy.Options) {
			o.Approval = proxy.Approval{Channels: []string{"elicit", "cli"}, Hold: time.Nanosecond}
		}})
		c := s.Connect(l, "")
		blind := c.Do("deploy", `{}`)
		if proxytest.Member(blind.Result, "requestState") == "" || proxytest.Member(blind.Result, "inputRequests") != "" {
			t.Fatalf("%s", blind.Raw)
		}
		c.Capabilities = proxytest.CanElicit
		q := c.Asks("deploy", `{}`)
		id := c.CallWith("deploy", `{}`, "", `,"inputResponses":{"approval":`+proxytest.Approve+`},"requestState":`+proxytest.Member(blind.Result, "requestState"))
		c.AwaitQuestion("deploy", `{}`, id)
		s.Executed("deploy", 0)
		if r := q.Answer(proxytest.Approve); r.Result == nil || r.IsError() {
			t.Errorf("%s", r.Raw)
		}
		s.Executed("deploy", 1)
	})
}
