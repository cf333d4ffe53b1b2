package front_test

import (
	"io"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/proxy"
)

// TestOlderTransport: HTTP+SSE goes through the same gate, and belongs to the principal that opened
// it.
func TestOlderTransport(t *testing.T) {
	s := proxytest.Start(t, proxytest.Setup{})
	s.ServeWith(proxy.Access{Tokens: map[string]string{"ann": "token of ann", "bob": "token of bob"}, MaxSessions: 1})
	c := s.ConnectOlder("token of ann")
	if m := c.Ask(strings.Replace(proxytest.InitializeRequest, "2025-11-25", "2024-11-05", 1)); m.ID != "7" || !strings.Contains(string(m.Raw), `"protocolVersion":"2024-11-05"`) {
		t.Errorf("%s", m.Raw)
	}
	if status := c.Post(c.Token, `{"jsonrpc":"2.0","method":"notifications/initialized"}`); status != 202 {
		t.Error(status)
	}
	large := strings.Repeat("x", 300<<10)
	if m := c.Ask(strings.Replace(proxytest.PushRequest, `"name":"push"`, `"name":"safe","arguments":{"a":"`+large+`"}`, 1)); m.IsError() || !strings.Contains(string(m.Raw), large) {
		t.Errorf("%s", proxytest.Clip(m.Raw))
	}
	if m := c.Ask(strings.Replace(proxytest.PushRequest, "push", "danger", 1)); !m.IsError() {
		t.Errorf("%s", m.Raw)
	}
	if m := c.Ask(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"safe","Name":"danger"}}`); m.Code() == "" {
		t.Errorf("%s", m.Raw)
	}
	if status := c.Post("token of bob", proxytest.PushRequest); status != 404 {
		t.Errorf("bob in the session of ann: %d", status)
	}
	if status := c.Post("", proxytest.PushRequest); status != 401 {
		t.Errorf("nobody in the session of ann: %d", status)
	}
	if status, _, body := s.InSession("token of ann", "", proxytest.InitializeRequest); status != 429 {
		t.Errorf("a second session: %d %s", status, body)
	}
	if status, _, _ := s.InSession("token of ann", strings.TrimPrefix(c.Where, "/messages?sessionId="), proxytest.PushRequest); status != 404 {
		t.Errorf("the session at the other endpoint: %d", status)
	}
	s.Executed("push", 0)
	s.Executed("danger", 0)
	c.End()
	s.Eventually("the session has ended", func() bool { return c.Post(c.Token, proxytest.PushRequest) == 404 && len(s.Proxy.Sessions()) == 0 })
	s.ConnectOlder("token of ann")
}

// TestOlderGuard: the two paths are guarded and have their methods.
func TestOlderGuard(t *testing.T) {
	s := proxytest.Start(t, proxytest.Setup{})
	for path, method := range map[string]string{"/sse": "GET", "/messages": "POST"} {
		p := s.ModernCall()
		p.Path = path
		for _, other := range []string{"PUT", "DELETE", "OPTIONS", "HEAD"} {
			p.Method = other
			if status, header, _ := s.Fetch(p); status != 405 || header.Get("Allow") != method {
				t.Errorf("%s %s: %d", other, path, status)
			}
		}
		p.Method = method
		for name, change := range map[string]func(*proxytest.HTTPRequest){
			"no token": func(p *proxytest.HTTPRequest) { p.Header.Del("Authorization") }, "foreign host": func(p *proxytest.HTTPRequest) { p.Host = "evil.example" },
			"foreign origin": func(p *proxytest.HTTPRequest) { p.Header.Set("Origin", "https://evil.example") },
		} {
			q := p
			q.Header = p.Header.Clone()
			change(&q)
			if status, _, _ := s.Fetch(q); status != 401 && status != 403 {
				t.Errorf("%s: %s: %d", path, name, status)
			}
		}
	}
	for _, path := range []string{"/messages", "/messages?sessionId=", "/messages?sessionId=x"} {
		p := s.ModernCall()
		p.Path = path
		if status, _, _ := s.Fetch(p); status != 404 {
			t.Errorf("%s: %d", path, status)
		}
	}
	s.Executed("", 0)
}

// TestOlderDrain: a proxy that is shutting down ends the stream.
func TestOlderDrain(t *testing.T) {
	s := proxytest.Start(t, proxytest.Setup{})
	c := s.ConnectOlder(proxytest.Token)
	s.Proxy.Drain()
	if _, err := io.ReadAll(c.Events); err != nil {
		t.Error(err)
	}
}
