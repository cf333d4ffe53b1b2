package proxy_test

import (
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/proxy"
)

// asking is a setup with both channels and rules that name one.
func asking(rules string) setup {
	s := bothChannels()
	s.rules = rules
	return s
}

// TestOnlyTheOperator: a rule that requires the terminal does not accept the client, which is not
// even asked.
func TestOnlyTheOperator(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, asking("require human-approval via cli before deploy\n"))
		c := s.connect(l, canElicit)
		id := c.call("deploy", `{}`)
		if err := s.proxy.Resolve(s.pending(1)[0].ID, true, "ada", ""); err != nil {
			t.Fatal(err)
		}
		if r := c.reply(id); r.isError() || r.result == nil {
			t.Errorf("%s", r.raw)
		}
		s.executed("deploy", 1)
		if n := c.mail.count(func(m message) bool { return m.method == "elicitation/create" }); n != 0 {
			t.Errorf("the client was asked: %s", c.mail)
		}
	})
}

// TestOnlyTheClient: nor does a rule that requires the client accept the terminal.
func TestOnlyTheClient(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, asking("require human-approval via elicit before deploy\n"))
		c := s.connect(l, canElicit)
		q := c.asks("deploy", `{}`)
		err := s.proxy.Resolve(s.pending(1)[0].ID, true, "ada", "")
		if err == nil || !strings.Contains(err.Error(), "can be answered only via elicit") {
			t.Errorf("the operator's answer: %v", err)
		}
		s.executed("deploy", 0)
		if r := q.answer(approve); r.isError() || r.result == nil {
			t.Errorf("%s", r.raw)
		}
		s.executed("deploy", 1)
	})
}

// TestNoSuchChannel: if the required channel is not open, or two are required, no person is asked
// and nothing runs.
func TestNoSuchChannel(t *testing.T) {
	for rules, want := range map[string]string{
		"require human-approval via cli before deploy\n":                                                  "deploy requires human approval via cli, but no one can be asked that way now.",
		"require human-approval via cli before deploy\nrequire human-approval via elicit before deploy\n": "its rules require both via cli and via elicit",
	} {
		eachLeg(t, func(t *testing.T, l leg) {
			s := start(t, setup{rules: rules, change: func(o *proxy.Options) {
				o.Approval = proxy.Approval{Channels: []string{"elicit"}, Hold: time.Hour}
			}})
			r := s.connect(l, canElicit).do("deploy", `{}`)
			if !r.isError() || !strings.Contains(r.text(), want) {
				t.Errorf("%s", r.raw)
			}
			s.executed("deploy", 0)
		})
	}
}
