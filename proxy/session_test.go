package proxy_test

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

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
			for i, l := range legs() {
				s := start(t, setup{rules: "limit push to 1 per session\n", change: func(o *proxy.Options) { o.Session = c.way }})
				one, other := s.connect(l, ""), s.connect(l, "")
				got := ""
				for _, r := range []message{
					one.reply(one.callWith("push", "", "", "")), other.reply(other.callWith("push", "", "", "")),
					one.reply(one.callWith("push", "", `"`+meta+`":"a"`, "")), other.reply(other.callWith("push", "", `"`+meta+`":"b"`, "")),
					other.reply(other.callWith("push", "", `"`+meta+`":"a"`, "")), one.reply(one.callWith("push", "", `"`+meta+`":"b"`, "")),
				} {
					if r.result == nil || r.isError() {
						got += "0"
						continue
					}
					got += "1"
				}
				if got != c.passes[i] {
					t.Errorf("%s: %s, want %s", l.name, got, c.passes[i])
				}
			}
		})
	}
}

// TestSessionByHeader: a header splits the sessions of a principal, and does not affect those of
// another.
func TestSessionByHeader(t *testing.T) {
	s := start(t, setup{rules: "limit read to 1 per session\n", change: func(o *proxy.Options) {
		o.Session = proxy.SessionWay{By: "header", Header: "X-Agent-Session"}
	}})
	s.door(proxy.Access{Tokens: map[string]string{"ann": "token of ann", "bob": "token of bob"}})
	for i, c := range []struct {
		who, header string
		want        bool
	}{{"ann", "a", true}, {"ann", "a", false}, {"ann", "b", true}, {"bob", "a", true}, {"ann", "", true}, {"ann", "", false}, {"bob", "a", false}} {
		p := s.as("token of " + c.who)
		if c.header != "" {
			p.header.Set("X-Agent-Session", c.header)
		}
		if status, _, text := s.fetch(p); parseMessage([]byte(text), status).isError() == c.want {
			t.Errorf("%d: %d %s", i, status, text)
		}
	}
	for _, bad := range [][]string{{"a", "b"}, {""}, {"a\tb"}, {strings.Repeat("x", 129)}} {
		p := s.as("token of ann")
		p.header["X-Agent-Session"] = bad
		if _, _, text := s.fetch(p); !strings.Contains(text, "Invalid params: the header X-Agent-Session") {
			t.Errorf("%q: %s", bad, text)
		}
	}
	var ids []string
	for _, info := range s.proxy.Sessions() {
		ids = append(ids, fmt.Sprint(info.Principal, " ", info.By, " ", info.Name))
	}
	slices.Sort(ids)
	if want := []string{"token:ann header a", "token:ann header b", "token:ann principal ", "token:bob header a"}; !slices.Equal(ids, want) {
		t.Errorf("%q", ids)
	}
}

// TestSessionByHeaderOfConnection: an HTTP session stays where its handshake put it.
func TestSessionByHeaderOfConnection(t *testing.T) {
	s := start(t, setup{rules: "limit push to 1 per session\n", change: func(o *proxy.Options) {
		o.Session = proxy.SessionWay{By: "header", Header: "X-Agent-Session"}
	}})
	session := ""
	send := func(header, body string) (int, string) {
		p := s.as(token)
		p.body, p.header = body, http.Header{
			"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
			"Mcp-Protocol-Version": {"2025-11-25"},
		}
		if session != "" {
			p.header.Set("Mcp-Session-Id", session)
		}
		if header != "" {
			p.header.Set("X-Agent-Session", header)
		}
		status, answered, text := s.fetch(p)
		session = cmp.Or(answered.Get("Mcp-Session-Id"), session)
		return status, text
	}
	if status, text := send("a", opening); status != 200 {
		t.Fatal(text)
	}
	for i, c := range []struct{ header, want string }{
		{"", "push"}, {"a", "limit of 1 call per session"}, {"b", "names another session than in initialize"}, {"a\tb", "printable characters"},
	} {
		if _, text := send(c.header, pushing); !strings.Contains(text, c.want) {
			t.Errorf("%d: %s", i, text)
		}
	}
	s.executed("push", 1)
}
