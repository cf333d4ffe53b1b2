package proxy_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/petrigate/petrigate/proxy"
)

// asPrincipal makes a call of a tool with the token, like a client of the leg.
func (s *site) asPrincipal(l leg, token, session, id, tool string) message {
	s.t.Helper()
	if !l.modern {
		status, _, text := s.inSession(token, session, `{"jsonrpc":"2.0","id":`+id+`,"method":"tools/call","params":{"name":"`+tool+`"}}`)
		return parseMessage([]byte(text), status)
	}
	p, c := s.as(token), &client{site: s, leg: l, version: "2026-07-28", capabilities: "{}"}
	p.header.Set("Mcp-Name", tool)
	p.body = `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{` + c.meta("") + `"name":"` + tool + `"}}`
	status, _, text := s.fetch(p)
	return parseMessage([]byte(text), status)
}

// httpLegs runs f on both legs over HTTP, each with two principals.
func httpLegs(t *testing.T, change func(*proxy.Options), f func(t *testing.T, s *site, call func(principal, tool string) message)) {
	eachLeg(t, func(t *testing.T, l leg) {
		if !l.http {
			return // there is one principal
		}
		s := start(t, setup{rules: "block danger\n", change: change})
		s.door(proxy.Access{Tokens: map[string]string{"ann": "token of ann", "bob": "token of bob"}})
		sessions := map[string]string{}
		for _, name := range []string{"ann", "bob"} {
			if !l.modern {
				sessions[name] = s.open("token of " + name)
			}
		}
		var id atomic.Int64
		f(t, s, func(principal, tool string) message {
			return s.asPrincipal(l, "token of "+principal, sessions[principal], fmt.Sprint(id.Add(1)), tool)
		})
	})
}

// TestShareOfCalls: one principal cannot take all slots for calls in flight.
func TestShareOfCalls(t *testing.T) {
	httpLegs(t, func(o *proxy.Options) { o.Upstreams[0].Limits.InFlight = 6 }, func(t *testing.T, s *site, call func(principal, tool string) message) {
		done := make(chan message, 6)
		for i, who := range []string{"ann", "ann", "ann", "bob", "bob"} {
			go func() { done <- call(who, "slow") }()
			s.awaitExecuted("slow", i+1)
			if i == 2 {
				const want = "3 of the 6 calls of the upstream up that may be under way at a time (limits.inFlight) are yours, and what is left is for others"
				if r := call("ann", "safe"); r.decision("kind") != "busy" || !strings.Contains(r.text(), want) {
					t.Errorf("%s", r.raw)
				}
			}
		}
		if r := call("bob", "safe"); r.decision("kind") != "busy" {
			t.Errorf("%s", r.raw)
		}
		s.upstream.Release()
		for range 5 {
			if r := <-done; r.isError() || r.status != http.StatusOK {
				t.Errorf("%s", r.raw)
			}
		}
		if r := call("ann", "safe"); r.isError() {
			t.Errorf("%s", r.raw)
		}
	})
}

// TestShareOfSessions: nor all dedicated connections.
func TestShareOfSessions(t *testing.T) {
	s := start(t, setup{rules: "block danger\n", change: func(o *proxy.Options) {
		o.Upstreams[0].Isolation, o.Upstreams[0].Protocol, o.Upstreams[0].Limits.Sessions = proxy.IsolateSession, "legacy", 4
	}})
	s.door(proxy.Access{Tokens: map[string]string{"ann": "token of ann", "bob": "token of bob"}})
	call := func(name string) message {
		return s.asPrincipal(legs()[1], "token of "+name, s.open("token of "+name), "1", "safe")
	}
	for i, c := range []struct{ name, want string }{
		{"ann", ""}, {"ann", ""}, {"ann", "2 of the 4 sessions that may have a connection of up for themselves (limits.sessions) are yours"},
		{"bob", ""}, {"bob", "1 of the 4 sessions"},
	} {
		if r := call(c.name); r.isError() != (c.want != "") || !strings.Contains(fmt.Sprint(r.text(), " "), c.want) {
			t.Errorf("%d: %s", i, r.raw)
		}
	}
}
