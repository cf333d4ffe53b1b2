package session_test

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/proxy"
)

// TestSessionOf: the session of a call, for each Way and leg. Each client calls once; a session has
// one call of push.
func TestSessionOf(t *testing.T) {
	const meta, x = "example.com/session", "X-Agent-Session"
	for name, c := range map[string]struct {
		way    proxy.SessionWay
		passes []string // which of the calls below pass, by leg
	}{
		"connection": {proxy.SessionWay{}, []string{"110000", "110000", "100000", "110000"}},
		"principal":  {proxy.SessionWay{By: "principal"}, []string{"100000", "100000", "100000", "100000"}},
		"name":       {proxy.SessionWay{By: "name", Name: "nightly"}, []string{"100000", "100000", "100000", "100000"}},
		"meta":       {proxy.SessionWay{By: "meta", Meta: meta}, []string{"101100", "101100", "101100", "101100"}},
	} {
		t.Run(name, func(t *testing.T) {
			for i, l := range proxytest.Legs() {
				s := proxytest.Start(t, proxytest.Setup{Rules: "limit push to 1 per session\n", Change: func(o *proxy.Options) { o.Session = c.way }})
				one, other := s.Connect(l, ""), s.Connect(l, "")
				got := ""
				for _, r := range []proxytest.Message{
					one.Reply(one.CallWith("push", "", "", "")), other.Reply(other.CallWith("push", "", "", "")),
					one.Reply(one.CallWith("push", "", `"`+meta+`":"a"`, "")), other.Reply(other.CallWith("push", "", `"`+meta+`":"b"`, "")),
					other.Reply(other.CallWith("push", "", `"`+meta+`":"a"`, "")), one.Reply(one.CallWith("push", "", `"`+meta+`":"b"`, "")),
				} {
					if r.Result == nil || r.IsError() {
						got += "0"
						continue
					}
					got += "1"
				}
				if got != c.passes[i] {
					t.Errorf("%s: %s, want %s", l.Name, got, c.passes[i])
				}
			}
		})
	}
}

// TestSessionByHeader: a header splits the sessions of a principal, and does not affect those of
// another.
func TestSessionByHeader(t *testing.T) {
	s := proxytest.Start(t, proxytest.Setup{Rules: "limit read to 1 per session\n", Change: func(o *proxy.Options) {
		o.Session = proxy.SessionWay{By: "header", Header: "X-Agent-Session"}
	}})
	s.ServeWith(proxy.Access{Tokens: map[string]string{"ann": "token of ann", "bob": "token of bob"}})
	for i, c := range []struct {
		who, header string
		want        bool
	}{{"ann", "a", true}, {"ann", "a", false}, {"ann", "b", true}, {"bob", "a", true}, {"ann", "", true}, {"ann", "", false}, {"bob", "a", false}} {
		p := s.ModernCallAs("token of " + c.who)
		if c.header != "" {
			p.Header.Set("X-Agent-Session", c.header)
		}
		if status, _, text := s.Fetch(p); proxytest.ParseMessage([]byte(text), status).IsError() == c.want {
			t.Errorf("%d: %d %s", i, status, text)
		}
	}
	for _, bad := range [][]string{{"a", "b"}, {""}, {"a\tb"}, {strings.Repeat("x", 129)}} {
		p := s.ModernCallAs("token of ann")
		p.Header["X-Agent-Session"] = bad
		if _, _, text := s.Fetch(p); !strings.Contains(text, "Invalid params: the header X-Agent-Session") {
			t.Errorf("%q: %s", bad, text)
		}
	}
	var ids []string
	for _, info := range s.Proxy.Sessions() {
		ids = append(ids, fmt.Sprint(info.Principal, " ", info.By, " ", info.Name))
	}
	slices.Sort(ids)
	if want := []string{"token:ann header a", "token:ann header b", "token:ann principal ", "token:bob header a"}; !slices.Equal(ids, want) {
		t.Errorf("%q", ids)
	}
}

// TestSessionByHeaderOfConnection: an HTTP session stays where its handshake put it.
func TestSessionByHeaderOfConnection(t *testing.T) {
	s := proxytest.Start(t, proxytest.Setup{Rules: "limit push to 1 per session\n", Change: func(o *proxy.Options) {
		o.Session = proxy.SessionWay{By: "header", Header: "X-Agent-Session"}
	}})
	session := ""
	send := func(header, body string) (int, string) {
		p := s.ModernCallAs(proxytest.Token)
		p.Body, p.Header = body, http.Header{
			"Authorization": {"Bearer " + proxytest.Token}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
			"Mcp-Protocol-Version": {"2025-11-25"},
		}
		if session != "" {
			p.Header.Set("Mcp-Session-Id", session)
		}
		if header != "" {
			p.Header.Set("X-Agent-Session", header)
		}
		status, answered, text := s.Fetch(p)
		session = cmp.Or(answered.Get("Mcp-Session-Id"), session)
		return status, text
	}
	if status, text := send("a", proxytest.InitializeRequest); status != 200 {
		t.Fatal(text)
	}
	for i, c := range []struct{ header, want string }{
		{"", "push"}, {"a", "limit of 1 call per session"}, {"b", "names another session than initialize did"}, {"a\tb", "printable characters"},
	} {
		if _, text := send(c.header, proxytest.PushRequest); !strings.Contains(text, c.want) {
			t.Errorf("%d: %s", i, text)
		}
	}
	s.Executed("push", 1)
}
