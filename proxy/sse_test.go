package proxy_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/proxy"
)

// An olderClient speaks HTTP+SSE (revision 2024-11-05).
type olderClient struct {
	*site
	token  string
	where  string // URL for its messages
	events *bufio.Reader
	end    context.CancelFunc
}

// older opens a stream.
func (s *site) older(token string) *olderClient {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.t.Context())
	s.t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.http.URL+"/sse", http.NoBody)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	response, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = response.Body.Close() })
	if response.StatusCode != 200 || response.Header.Get("Content-Type") != "text/event-stream" {
		s.t.Fatal(response.Status)
	}
	c := &olderClient{site: s, token: token, events: bufio.NewReader(response.Body), end: cancel}
	name, data := c.event()
	if name != "endpoint" {
		s.t.Fatal(name, data)
	}
	c.where = data
	return c
}

// event reads the next event.
func (c *olderClient) event() (name, data string) {
	c.t.Helper()
	for {
		line, err := c.events.ReadString('\n')
		if err != nil {
			c.t.Fatal(err)
		}
		line = strings.TrimSuffix(line, "\n")
		switch key, value, _ := strings.Cut(line, ": "); key {
		case "event":
			name = value
		case "data":
			data = value
		case "":
			if name != "" {
				return name, data
			}
		}
	}
}

// post sends a message.
func (c *olderClient) post(token, body string) int {
	c.t.Helper()
	status, _, _ := c.fetch(plain{method: "POST", path: c.where, body: body, header: http.Header{"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}}})
	return status
}

// ask sends a request and returns the next message.
func (c *olderClient) ask(body string) message {
	c.t.Helper()
	if status := c.post(c.token, body); status != 202 {
		c.t.Fatal(status)
	}
	_, data := c.event()
	return parseMessage([]byte(data), 200)
}

// TestOlderTransport: HTTP+SSE goes through the same gate, and belongs to the principal that opened
// it.
func TestOlderTransport(t *testing.T) {
	s := start(t, setup{})
	s.door(proxy.Access{Tokens: map[string]string{"ann": "token of ann", "bob": "token of bob"}, MaxSessions: 1})
	c := s.older("token of ann")
	if m := c.ask(strings.Replace(opening, "2025-11-25", "2024-11-05", 1)); m.id != "7" || !strings.Contains(string(m.raw), `"protocolVersion":"2024-11-05"`) {
		t.Errorf("%s", m.raw)
	}
	if status := c.post(c.token, `{"jsonrpc":"2.0","method":"notifications/initialized"}`); status != 202 {
		t.Error(status)
	}
	large := strings.Repeat("x", 300<<10)
	if m := c.ask(strings.Replace(pushing, `"name":"push"`, `"name":"safe","arguments":{"a":"`+large+`"}`, 1)); m.isError() || !strings.Contains(string(m.raw), large) {
		t.Errorf("%s", clipped(m.raw))
	}
	if m := c.ask(strings.Replace(pushing, "push", "danger", 1)); !m.isError() {
		t.Errorf("%s", m.raw)
	}
	if m := c.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"safe","Name":"danger"}}`); m.code() == "" {
		t.Errorf("%s", m.raw)
	}
	if status := c.post("token of bob", pushing); status != 404 {
		t.Errorf("bob in the session of ann: %d", status)
	}
	if status := c.post("", pushing); status != 401 {
		t.Errorf("nobody in the session of ann: %d", status)
	}
	if status, _, body := s.inSession("token of ann", "", opening); status != 429 {
		t.Errorf("a second session: %d %s", status, body)
	}
	if status, _, _ := s.inSession("token of ann", strings.TrimPrefix(c.where, "/messages?sessionId="), pushing); status != 404 {
		t.Errorf("the session at the other endpoint: %d", status)
	}
	s.executed("push", 0)
	s.executed("danger", 0)
	c.end()
	s.eventually("the session has ended", func() bool { return c.post(c.token, pushing) == 404 && len(s.proxy.Sessions()) == 0 })
	s.older("token of ann")
}

// TestOlderGuard: the two paths are guarded and have their methods.
func TestOlderGuard(t *testing.T) {
	s := start(t, setup{})
	for path, method := range map[string]string{"/sse": "GET", "/messages": "POST"} {
		p := s.modernCall()
		p.path = path
		for _, other := range []string{"PUT", "DELETE", "OPTIONS", "HEAD"} {
			p.method = other
			if status, header, _ := s.fetch(p); status != 405 || header.Get("Allow") != method {
				t.Errorf("%s %s: %d", other, path, status)
			}
		}
		p.method = method
		for name, change := range map[string]func(*plain){
			"no token": func(p *plain) { p.header.Del("Authorization") }, "foreign host": func(p *plain) { p.host = "evil.example" },
			"foreign origin": func(p *plain) { p.header.Set("Origin", "https://evil.example") },
		} {
			q := p
			q.header = p.header.Clone()
			change(&q)
			if status, _, _ := s.fetch(q); status != 401 && status != 403 {
				t.Errorf("%s: %s: %d", path, name, status)
			}
		}
	}
	for _, path := range []string{"/messages", "/messages?sessionId=", "/messages?sessionId=x"} {
		p := s.modernCall()
		p.path = path
		if status, _, _ := s.fetch(p); status != 404 {
			t.Errorf("%s: %d", path, status)
		}
	}
	s.executed("", 0)
}

// TestOlderDrain: a proxy that is shutting down ends the stream.
func TestOlderDrain(t *testing.T) {
	s := start(t, setup{})
	c := s.older(token)
	s.proxy.Drain()
	if _, err := io.ReadAll(c.events); err != nil {
		t.Error(err)
	}
}
