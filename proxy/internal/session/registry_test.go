package session_test

import (
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/proxy"
)

// TestBudgetOfAPrincipal: a principal's budget is not renewed by another connection, and another
// principal has a budget of its own.
func TestBudgetOfAPrincipal(t *testing.T) {
	s := proxytest.Start(t, proxytest.Setup{Rules: "limit push to 2 per user\n"})
	http, modern, stdio := proxytest.Legs()[1], proxytest.Legs()[2], proxytest.Legs()[0]
	first := s.Connect(http, "")
	first.Must("push", `{}`)
	first.Close()
	s.Connect(modern, "").Must("push", `{}`)
	r := s.Connect(http, "").Do("push", `{}`)
	if !r.IsError() || !strings.Contains(string(r.Raw), "push has reached its limit of 2 calls per user.") {
		t.Errorf("the third push of a principal: %s", r.Raw)
	}
	s.Connect(stdio, "").Must("push", `{}`)
	s.Executed("push", 3)
}

// TestSwitchedNets: a net that an operator switches is switched in every session, including later
// ones, and its spent budget stays spent.
func TestSwitchedNets(t *testing.T) {
	for name, rule := range map[string]string{"limit-push-1": "limit push to 1 per session\n", "limit-push-1-per-user": "limit push to 1 per user\n"} {
		t.Run(name, func(t *testing.T) {
			s := proxytest.Start(t, proxytest.Setup{Rules: rule})
			leg := proxytest.Legs()[1]
			c := s.Connect(leg, "")
			c.Must("push", `{}`)
			s.SwitchNet(name, false)
			c.Must("push", `{}`)
			later := s.Connect(leg, "")
			later.Must("push", `{}`)
			later.Must("push", `{}`)
			s.SwitchNet(name, true)
			if r := c.Do("push", `{}`); !r.IsError() {
				t.Errorf("the budget came back: %s", r.Raw)
			}
			for _, bad := range []string{name, "no-such-net"} {
				if err := s.Proxy.SwitchNet(bad, true, proxy.Actor{Name: "ann"}); err == nil {
					t.Errorf("%s could be activated", bad)
				}
			}
			if nets := s.Proxy.Nets(); len(nets) != 1 || !nets[0].Active || nets[0].Name != name {
				t.Errorf("%+v", nets)
			}
			s.Records.Fail.Store(true)
			if err := s.Proxy.SwitchNet(name, false, proxy.Actor{Name: "ann"}); err == nil || !s.Proxy.Nets()[0].Active {
				t.Errorf("a net was switched off without a record: %v", err)
			}
		})
	}
}
