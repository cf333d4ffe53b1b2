package session_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/internal/runtime/store/journal"
	"github.com/petrigate/petrigate/proxy"
)

// replicas are proxies with one database, in front of one upstream.
func replicas(t *testing.T, n int, rules string, change func(*proxy.Options)) []*proxytest.Site {
	t.Helper()
	path := filepath.Join(t.TempDir(), "state.db")
	var all []*proxytest.Site
	for range n {
		s := proxytest.Start(t, proxytest.Setup{Rules: rules, Change: func(o *proxy.Options) {
			b, err := journal.Open(t.Context(), journal.Options{Path: path})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = b.Close() })
			if o.Database = b; len(all) > 0 {
				o.Upstreams = all[0].Options.Upstreams
			}
			if change != nil {
				change(o)
			}
		}})
		s.ServeWith(proxy.Access{Tokens: map[string]string{"ann": "token of ann", "bob": "token of bob"}})
		all = append(all, s)
	}
	return all
}

// TestReplicas: an HTTP session is served by any proxy with the database, for its principal only,
// until one of them ends it. A budget spent at one is spent at all.
func TestReplicas(t *testing.T) {
	t.Parallel()
	s := replicas(t, 3, "limit push to 2 per session\nlimit safe to 3 per user\n", nil)
	a, b, c := s[0], s[1], s[2]
	session := a.OpenSession("token of ann")
	push := func(s *proxytest.Site, token, session string) string {
		status, _, text := s.InSession(token, session, proxytest.PushRequest)
		if status != http.StatusOK {
			return fmt.Sprint(status)
		}
		if m := proxytest.ParseMessage([]byte(text), status); m.IsError() {
			return m.Text()
		}
		return "passes"
	}
	const over = "push has reached its limit of 2 calls per session. (test.rules:1:1)"
	for i, want := range []string{"passes", "passes", over} {
		if got := push(s[(i+1)%3], "token of ann", session); got != want {
			t.Errorf("%d: %s, want %s", i, got, want)
		}
	}
	a.Executed("push", 2)
	for name, id := range map[string]string{"another's": session, "another": strings.Repeat("0", len(session)), "the id on record": b.Proxy.Sessions()[0].ID} {
		who := "token of ann"
		if name == "another's" {
			who = "token of bob"
		}
		if got := push(c, who, id); got != "404" {
			t.Errorf("%s: %s", name, got)
		}
	}
	if status, _, text := b.InSession("token of ann", session, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`); status != 200 || !strings.Contains(text, `"push"`) {
		t.Errorf("%d %s", status, text)
	}

	// without a session, and with budgets of a user: no affinity
	for i, want := range []bool{true, true, true, false} {
		p := s[i%3].ModernCallAs("token of bob")
		p.Header.Set("Mcp-Name", "safe")
		p.Body = strings.Replace(p.Body, `"name":"read"`, `"name":"safe"`, 1)
		if status, _, text := s[i%3].Fetch(p); proxytest.ParseMessage([]byte(text), status).IsError() == want {
			t.Errorf("%d: %d %s", i, status, text)
		}
	}

	// all list it, and any can change it
	list, err := c.Proxy.AllSessions()
	at := slices.IndexFunc(list, func(i proxy.SessionInfo) bool { return i.By == "connection" })
	if err != nil || at < 0 || list[at].Principal != "token:ann" || list[at].Used.IsZero() {
		t.Fatalf("%+v, %v", list, err)
	}
	if err := a.Proxy.ResetSession(list[at].ID, proxy.Actor{Name: "ann"}); err != nil {
		t.Error(err)
	}
	if got := push(b, "token of ann", session); got != "passes" {
		t.Error(got)
	}
	if done, err := a.Proxy.Stop("", "ann", "why"); err != nil || !done.Shared {
		t.Errorf("%+v, %v", done, err)
	}
	for _, s := range s { // concurrently: the commit checks it
		if got := push(s, "token of ann", session); !strings.HasPrefix(got, "Stopped: an operator has stopped all calls") {
			t.Error(got)
		}
	}
	if done, err := b.Proxy.StartAgain("", proxy.Actor{Name: "ann"}); err != nil || len(done.Left) != 0 {
		t.Errorf("%+v, %v", done, err)
	}
	c.Eventually("the calls pass again", func() bool { return !strings.HasPrefix(push(c, "token of ann", session), "Stopped") })

	// ended at one, it is over at all
	p := b.ModernCallAs("token of ann")
	p.Method, p.Body = http.MethodDelete, ""
	p.Header = http.Header{"Authorization": {"Bearer token of ann"}, "Mcp-Session-Id": {session}, "Mcp-Protocol-Version": {"2025-11-25"}}
	if status, _, text := b.Fetch(p); status != 200 {
		t.Errorf("%d %s", status, text)
	}
	if got := push(b, "token of ann", session); got != "404" {
		t.Error(got)
	}
	executed := a.Log.Executed("push")
	for _, s := range []*proxytest.Site{a, c} {
		if got := push(s, "token of ann", session); got != "404" {
			t.Error(got)
		}
	}
	a.Executed("push", executed)
}
