package proxy_test

import (
	"strings"
	"testing"

	"github.com/petrigate/petrigate/proxy"
)

// TestBudgetOfAPrincipal: a principal's budget is not renewed by another connection, and another
// principal has a budget of its own.
func TestBudgetOfAPrincipal(t *testing.T) {
	s := start(t, setup{rules: "limit push to 2 per user\n"})
	http, modern, stdio := legs()[1], legs()[2], legs()[0]
	first := s.connect(http, "")
	first.must("push", `{}`)
	first.close()
	s.connect(modern, "").must("push", `{}`)
	r := s.connect(http, "").do("push", `{}`)
	if !r.isError() || !strings.Contains(string(r.raw), "push has reached its limit of 2 calls per user.") {
		t.Errorf("the third push of a principal: %s", r.raw)
	}
	s.connect(stdio, "").must("push", `{}`)
	s.executed("push", 3)
}

// TestSwitchedNets: a net that an operator switches is switched in every session, including later
// ones, and its spent budget stays spent.
func TestSwitchedNets(t *testing.T) {
	for name, rule := range map[string]string{"limit-push-1": "limit push to 1 per session\n", "limit-push-1-per-user": "limit push to 1 per user\n"} {
		t.Run(name, func(t *testing.T) {
			s := start(t, setup{rules: rule})
			leg := legs()[1]
			c := s.connect(leg, "")
			c.must("push", `{}`)
			s.switchNet(name, false)
			c.must("push", `{}`)
			later := s.connect(leg, "")
			later.must("push", `{}`)
			later.must("push", `{}`)
			s.switchNet(name, true)
			if r := c.do("push", `{}`); !r.isError() {
				t.Errorf("the budget came back: %s", r.raw)
			}
			for _, bad := range []string{name, "no-such-net"} {
				if err := s.proxy.SwitchNet(bad, true, proxy.Actor{Name: "ann"}); err == nil {
					t.Errorf("%s could be activated", bad)
				}
			}
			if nets := s.proxy.Nets(); len(nets) != 1 || !nets[0].Active || nets[0].Name != name {
				t.Errorf("%+v", nets)
			}
			s.records.setFail(true)
			if err := s.proxy.SwitchNet(name, false, proxy.Actor{Name: "ann"}); err == nil || !s.proxy.Nets()[0].Active {
				t.Errorf("a net was switched off without a record: %v", err)
			}
		})
	}
}

// switchNet switches a net as an operator.
func (s *site) switchNet(name string, on bool) {
	s.t.Helper()
	if err := s.proxy.SwitchNet(name, on, proxy.Actor{Name: "ann"}); err != nil {
		s.t.Fatal(err)
	}
}
