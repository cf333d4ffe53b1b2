package session_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/proxy"
)

// httpLegs runs f on both legs over HTTP, each with two principals.
func httpLegs(t *testing.T, change func(*proxy.Options), f func(t *testing.T, s *proxytest.Site, call func(principal, tool string) proxytest.Message)) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		if !l.HTTP {
			return // there is one principal
		}
		s := proxytest.Start(t, proxytest.Setup{Rules: "block danger\n", Change: change})
		s.ServeWith(proxy.Access{Tokens: map[string]string{"ann": "token of ann", "bob": "token of bob"}})
		sessions := map[string]string{}
		for _, name := range []string{"ann", "bob"} {
			if !l.Modern {
				sessions[name] = s.OpenSession("token of " + name)
			}
		}
		var id atomic.Int64
		f(t, s, func(principal, tool string) proxytest.Message {
			return s.CallAs(l, "token of "+principal, sessions[principal], fmt.Sprint(id.Add(1)), tool)
		})
	})
}

// TestShareOfCalls: one principal cannot take all slots for calls in flight.
func TestShareOfCalls(t *testing.T) {
	httpLegs(t, func(o *proxy.Options) { o.Upstreams[0].Limits.InFlight = 6 }, func(t *testing.T, s *proxytest.Site, call func(principal, tool string) proxytest.Message) {
		done := make(chan proxytest.Message, 6)
		for i, who := range []string{"ann", "ann", "ann", "bob", "bob"} {
			go func() { done <- call(who, "slow") }()
			s.AwaitExecuted("slow", i+1)
			if i == 2 {
				const want = "3 of the upstream up's 6 calls in flight (limits.inFlight) are yours, and the rest are reserved for others"
				if r := call("ann", "safe"); r.Decision("kind") != "busy" || !strings.Contains(r.Text(), want) {
					t.Errorf("%s", r.Raw)
				}
			}
		}
		if r := call("bob", "safe"); r.Decision("kind") != "busy" {
			t.Errorf("%s", r.Raw)
		}
		s.Upstream.Release()
		for range 5 {
			if r := <-done; r.IsError() || r.Status != http.StatusOK {
				t.Errorf("%s", r.Raw)
			}
		}
		if r := call("ann", "safe"); r.IsError() {
			t.Errorf("%s", r.Raw)
		}
	})
}

// TestShareOfSessions: nor all dedicated connections.
func TestShareOfSessions(t *testing.T) {
	s := proxytest.Start(t, proxytest.Setup{Rules: "block danger\n", Change: func(o *proxy.Options) {
		o.Upstreams[0].Isolation, o.Upstreams[0].Protocol, o.Upstreams[0].Limits.Sessions = proxy.IsolateSession, "legacy", 4
	}})
	s.ServeWith(proxy.Access{Tokens: map[string]string{"ann": "token of ann", "bob": "token of bob"}})
	call := func(name string) proxytest.Message {
		return s.CallAs(proxytest.Legs()[1], "token of "+name, s.OpenSession("token of "+name), "1", "safe")
	}
	for i, c := range []struct{ name, want string }{
		{"ann", ""}, {"ann", ""}, {"ann", "2 of the 4 sessions that can have their own connection of up (limits.sessions) are yours"},
		{"bob", ""}, {"bob", "1 of the 4 sessions"},
	} {
		if r := call(c.name); r.IsError() != (c.want != "") || !strings.Contains(fmt.Sprint(r.Text(), " "), c.want) {
			t.Errorf("%d: %s", i, r.Raw)
		}
	}
}
