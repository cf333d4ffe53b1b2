package pipeline_test

import (
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/proxy"
)

// asking is a setup with both channels and rules that name one.
func asking(rules string) proxytest.Setup {
	s := bothChannels()
	s.Rules = rules
	return s
}

// TestOnlyTheOperator: a rule that requires the terminal does not accept the client, which is not
// even asked.
func TestOnlyTheOperator(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, asking("require human-approval via cli before deploy\n"))
		c := s.Connect(l, proxytest.CanElicit)
		id := c.Call("deploy", `{}`)
		if err := s.Proxy.Resolve(s.AwaitPending(1)[0].ID, true, "ada", ""); err != nil {
			t.Fatal(err)
		}
		if r := c.Reply(id); r.IsError() || r.Result == nil {
			t.Errorf("%s", r.Raw)
		}
		s.Executed("deploy", 1)
		if n := c.Mail.Count(func(m proxytest.Message) bool { return m.Method == "elicitation/create" }); n != 0 {
			t.Errorf("the client was asked: %s", c.Mail)
		}
	})
}

// TestOnlyTheClient: nor does a rule that requires the client accept the terminal.
func TestOnlyTheClient(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, asking("require human-approval via elicit before deploy\n"))
		c := s.Connect(l, proxytest.CanElicit)
		q := c.Asks("deploy", `{}`)
		err := s.Proxy.Resolve(s.AwaitPending(1)[0].ID, true, "ada", "")
		if err == nil || !strings.Contains(err.Error(), "can be answered only via elicit") {
			t.Errorf("the operator's answer: %v", err)
		}
		s.Executed("deploy", 0)
		if r := q.Answer(proxytest.Approve); r.IsError() || r.Result == nil {
			t.Errorf("%s", r.Raw)
		}
		s.Executed("deploy", 1)
	})
}

// TestNoSuchChannel: if the required channel is not open, or two are required, no person is asked
// and nothing runs.
func TestNoSuchChannel(t *testing.T) {
	for rules, want := range map[string]string{
		"require human-approval via cli before deploy\n":                                                  "deploy requires human approval via cli, but no one can be asked that way now.",
		"require human-approval via cli before deploy\nrequire human-approval via elicit before deploy\n": "its rules require both via cli and via elicit",
	} {
		proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
			s := proxytest.Start(t, proxytest.Setup{Rules: rules, Change: func(o *proxy.Options) {
				o.Approval = proxy.Approval{Channels: []string{"elicit"}, Hold: time.Hour}
			}})
			r := s.Connect(l, proxytest.CanElicit).Do("deploy", `{}`)
			if !r.IsError() || !strings.Contains(r.Text(), want) {
				t.Errorf("%s", r.Raw)
			}
			s.Executed("deploy", 0)
		})
	}
}
