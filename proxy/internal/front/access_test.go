package front_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/proxy"
)

// TestNamedTokens: each token name is a principal of its own.
func TestNamedTokens(t *testing.T) {
	s := proxytest.Start(t, proxytest.Setup{Rules: "block danger\n"})
	s.ServeWith(proxy.Access{Token: "the token of nobody", Tokens: map[string]string{"ann": "token of ann", "bob": "token of bob"}})
	for given, want := range map[string]string{"token of ann": "token:ann", "token of bob": "token:bob", "the token of nobody": "token"} {
		before := len(s.Records.Decisions(""))
		if status, _, body := s.Fetch(s.ModernCallAs(given)); status != 200 {
			t.Errorf("%s: %d %s", given, status, body)
			continue
		}
		if got := s.Records.Decisions("")[before].Principal; got != want {
			t.Errorf("%s: %q, want %q", given, got, want)
		}
	}
	session := s.OpenSession("token of ann")
	if status, _, _ := s.InSession("token of bob", session, proxytest.PushRequest); status != 404 {
		t.Errorf("the session of ann is bob's: %d", status)
	}
	for _, given := range []string{"ann", "token of", "token of annx", proxytest.Token} {
		if status, _, _ := s.Fetch(s.ModernCallAs(given)); status != 401 {
			t.Errorf("%q: %d", given, status)
		}
	}
	for _, a := range []proxy.Access{
		{Tokens: map[string]string{"ann": ""}}, {Tokens: map[string]string{"": "x"}}, {Token: "x", Tokens: map[string]string{"ann": "x"}},
		{Tokens: map[string]string{"a": "x", "b": "x"}}, {Token: "x", JWT: &proxy.JWT{}}, {Open: true, JWT: &proxy.JWT{}}, {JWT: &proxy.JWT{}},
	} {
		a.Addr = "127.0.0.1:80"
		if _, err := s.Proxy.Handler(a); err == nil {
			t.Errorf("%+v is served", a)
		}
	}
}

// TestSessionsOverLimitAreRefused: sessions over the limit are refused with a reason, per principal
// and in total, and a session that ends makes room.
func TestSessionsOverLimitAreRefused(t *testing.T) {
	s := proxytest.Start(t, proxytest.Setup{Rules: "block danger\n"})
	s.ServeWith(proxy.Access{Tokens: map[string]string{"ann": "token of ann", "bob": "token of bob", "cid": "token of cid"}, MaxSessions: 2, MaxAll: 3})
	refused := func(token, why string) {
		t.Helper()
		status, header, body := s.InSession(token, "", proxytest.InitializeRequest)
		if m := proxytest.ParseMessage([]byte(body), status); status != 429 || m.ID != "7" || m.Code() != "-32603" || !strings.Contains(body, why) || header.Get("Mcp-Session-Id") != "" {
			t.Errorf("%d %s", status, body)
		}
	}
	first := s.OpenSession("token of ann")
	s.OpenSession("token of ann")
	refused("token of ann", "you have 2 open sessions")
	s.OpenSession("token of bob")
	refused("token of cid", "this proxy has 3 open sessions")
	if status, _, body := s.Fetch(s.ModernCallAs("token of cid")); status != 200 { // a stateless request has no session
		t.Errorf("%d %s", status, body)
	}
	if status, _, body := s.InSession("token of ann", first, strings.Replace(proxytest.PushRequest, "push", "read", 1)); status != 200 {
		t.Errorf("the rest goes on: %d %s", status, body)
	}
	p := s.ModernCallAs("token of ann")
	p.Method = "DELETE"
	p.Header.Set("Mcp-Protocol-Version", "2025-11-25")
	p.Header.Set("Mcp-Session-Id", first)
	if status, _, _ := s.Fetch(p); status != 200 {
		t.Errorf("DELETE: %d", status)
	}
	var all sync.WaitGroup
	opened := make(chan int, 20)
	for range cap(opened) { // concurrently: only one succeeds
		all.Go(func() {
			status, _, _ := s.InSession("token of cid", "", proxytest.InitializeRequest)
			opened <- status
		})
	}
	all.Wait()
	close(opened)
	count := map[int]int{}
	for status := range opened {
		count[status]++
	}
	if count[200] != 1 || count[429] != cap(opened)-1 {
		t.Errorf("%v", count)
	}
}

// TestIdleWhileBusy: a session with an open stream does not expire; its idle time begins when the
// stream has ended.
func TestIdleWhileBusy(t *testing.T) {
	now := proxytest.NewClock()
	s := proxytest.Start(t, proxytest.Setup{Rules: "block danger\n", Change: func(o *proxy.Options) { o.Now = now.Now }})
	s.ServeWith(proxy.Access{Token: "a token", IdleTTL: 40 * time.Millisecond}) // checked every 5 ms
	session := s.OpenSession("a token")
	idle := s.OpenSession("a token")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stream := listen(ctx, s, "a token", session)
	defer func() { _ = stream.Close() }()
	now.Move(time.Hour)
	s.Eventually("the other session has ended", func() bool { return len(s.Proxy.Sessions()) == 1 })
	if status, _, body := s.InSession("a token", session, strings.Replace(proxytest.PushRequest, "push", "read", 1)); status != 200 {
		t.Errorf("%d %s", status, body)
	}
	if status, _, _ := s.InSession("a token", idle, proxytest.PushRequest); status != 404 {
		t.Errorf("the idle session: %d", status)
	}
}

// TestListedHostsAndOriginsAreAccepted: E001, E002. Hosts and origins that the operator lists are
// accepted, and similar ones are not; a listener on all networks does not answer to its address.
func TestListedHostsAndOriginsAreAccepted(t *testing.T) {
	s := proxytest.Start(t, proxytest.Setup{Rules: "block danger\n"})
	handler, err := s.Proxy.Handler(proxy.Access{Addr: "0.0.0.0:7777", Token: proxytest.Token, Hosts: []string{"Gate.example", "other.example:8443"}, Origins: []string{"https://App.example/", "http://app.example:3000"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		host, origin string
		want         int
	}{
		{"gate.example", "", 200}, {"GATE.example", "", 200}, {"gate.example:7777", "", 200}, {"localhost:7777", "", 200}, {"[::1]:7777", "", 200},
		{"gate.example:7778", "", 403}, {"gate.example.", "", 403}, {"x.gate.example", "", 403}, {"gate.example.evil.example", "", 403},
		{"other.example:8443", "", 200}, {"other.example", "", 403}, {"other.example:7777", "", 403},
		{"0.0.0.0:7777", "", 403}, {"", "", 403}, {":7777", "", 403}, {"[::]:7777", "", 403},
		{"gate.example", "https://app.example", 200}, {"gate.example", "HTTPS://APP.example", 200}, {"gate.example", "http://app.example:3000", 200},
		{"gate.example", "http://app.example", 403}, {"gate.example", "https://app.example:3000", 403}, {"gate.example", "https://app.example.", 403},
		{"gate.example", "https://gate.example", 403}, {"gate.example", "null", 403}, {"gate.example", "*", 403},
		{"gate.example", "http://localhost:5173", 200}, {"gate.example", "http://[::1]:5173", 200}, {"gate.example", "http://localhost.", 403},
		{"gate.example", "http://localhost/", 403}, {"gate.example", "http://localhost?x", 403}, {"gate.example", "http://localhost#x", 403},
		{"gate.example", "http://0.0.0.0:7777", 403}, {"gate.example", "http://127.0.0.1.nip.io", 403}, {"gate.example", "chrome-extension://abc", 403},
		{"gate.example", "http://localhost, https://evil.example", 403}, {"gate.example", "http://localhost http://evil.example", 403},
		{"evil.example", "https://app.example", 403},
	} {
		p := s.ModernCall()
		r := httptest.NewRequest(p.Method, p.Path, strings.NewReader(p.Body))
		r.Header, r.Host = p.Header, c.host
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code != c.want {
			t.Errorf("Host %q Origin %q: %d, want %d", c.host, c.origin, w.Code, c.want)
		}
	}
}

// TestRequestsOverLimitAreRefused: E012. A principal with too many open requests is refused at once
// while others continue, and a request that ends makes room; there is a limit on the total, too.
func TestRequestsOverLimitAreRefused(t *testing.T) {
	s := proxytest.Start(t, proxytest.Setup{Rules: "block danger\n"})
	named := map[string]string{}
	for i := range 6 {
		named[fmt.Sprint(i)] = fmt.Sprintf("token %d", i)
	}
	s.ServeWith(proxy.Access{Tokens: named, MaxRequests: 2})
	session := s.OpenSession("token 0")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for range 2 {
		stream := listen(ctx, s, "token 0", session)
		defer func() { _ = stream.Close() }()
	}
	if status, header, body := s.Fetch(s.ModernCallAs("token 0")); status != 429 || header.Get("Retry-After") != "1" {
		t.Errorf("%d %s", status, body)
	}
	s.Executed("", 0)
	if status, _, body := s.Fetch(s.ModernCallAs("token 1")); status != 200 {
		t.Errorf("another: %d %s", status, body)
	}
	for i := range 3 {
		token := fmt.Sprintf("token %d", i+1)
		session := s.OpenSession(token)
		for range 2 {
			stream := listen(ctx, s, token, session)
			defer func() { _ = stream.Close() }()
		}
	}
	if status, _, body := s.Fetch(s.ModernCallAs("token 4")); status != 503 {
		t.Errorf("all: %d %s", status, body)
	}
	cancel()
	s.Eventually("there is room", func() bool {
		status, _, _ := s.Fetch(s.ModernCallAs("token 0"))
		return status == 200
	})
}

// deadlines is a response writer that records the read deadline of the body.
type deadlines struct {
	*httptest.ResponseRecorder
	set []bool // whether a deadline was set
}

func (d *deadlines) SetReadDeadline(t time.Time) error {
	d.set = append(d.set, !t.IsZero())
	return nil
}

// TestBodyDeadline: E010. A body must arrive in time, also that of a rejected request, which is
// hardly read; an answer can take as long as a person takes.
func TestBodyDeadline(t *testing.T) {
	s := proxytest.Start(t, proxytest.Setup{Rules: "block danger\n"})
	for name, c := range map[string]struct {
		change func(*http.Request)
		want   string
	}{
		"let in":     {func(*http.Request) {}, "[true false]"},
		"no token":   {func(r *http.Request) { r.Header.Del("Authorization") }, "[true true]"},
		"other path": {func(r *http.Request) { r.URL.Path = "/x" }, "[true true]"},
		"no length":  {func(r *http.Request) { r.ContentLength = -1; r.Header.Del("Authorization") }, "[true true]"},
		"no body":    {func(r *http.Request) { r.ContentLength = 0; r.Method = "PUT" }, "[]"},
	} {
		p := s.ModernCall()
		r := httptest.NewRequest(p.Method, p.Path, strings.NewReader(p.Body))
		r.Header, r.Host = p.Header, s.HTTP.Listener.Addr().String()
		c.change(r)
		w := &deadlines{ResponseRecorder: httptest.NewRecorder()}
		s.HTTP.Config.Handler.ServeHTTP(w, r)
		if got := fmt.Sprint(w.set); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
