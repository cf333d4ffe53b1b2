package proxy_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/soak"
	"github.com/petrigate/petrigate/proxy"
)

// A plain is one HTTP request in all its parts, which a case changes.
type plain struct {
	method, path, host string
	header             http.Header
	body               string
}

// fetch sends a request of its own and reads the whole response.
func (s *site) fetch(p plain) (status int, header http.Header, body string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, p.method, s.http.URL+p.path, strings.NewReader(p.body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Host, r.Header = p.host, p.header
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	b, _ := io.ReadAll(response.Body)
	return response.StatusCode, response.Header, string(b)
}

// modernCall is a request of revision 2026-07-28 that calls push.
func (s *site) modernCall() plain {
	c := &client{site: s, leg: legs()[2], version: "2026-07-28", capabilities: "{}"}
	return plain{
		method: http.MethodPost, path: "/mcp",
		header: http.Header{
			"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
			"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {"read"},
		},
		body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{` + c.meta("") + `"name":"read"}}`,
	}
}

// TestGuard: E001, E002, E004. Host, Origin and token are each required, and nothing is executed
// without them.
func TestGuard(t *testing.T) {
	s := start(t, setup{rules: "block danger\n"})
	address := s.http.Listener.Addr().String()
	_, port, _ := strings.Cut(address, ":")
	cases := []struct {
		name   string
		change func(*plain)
		want   int
	}{
		{"as it should be", func(*plain) {}, 200},
		{"localhost", func(p *plain) { p.host = "localhost:" + port }, 200},
		{"IPv6 loopback", func(p *plain) { p.host = "[::1]:" + port }, 200},
		{"foreign host", func(p *plain) { p.host = "evil.example:" + port }, 403},
		{"foreign host without port", func(p *plain) { p.host = "evil.example" }, 403},
		{"other port", func(p *plain) { p.host = "localhost:1" }, 403},
		{"host that begins like ours", func(p *plain) { p.host = "127.0.0.1.evil.example:" + port }, 403},
		{"host with a user", func(p *plain) { p.host = "localhost:" + port + "@evil.example" }, 403},
		{"origin of this machine", func(p *plain) { p.header.Set("Origin", "http://localhost:5173") }, 200},
		{"foreign origin", func(p *plain) { p.header.Set("Origin", "https://evil.example") }, 403},
		{"null origin", func(p *plain) { p.header.Set("Origin", "null") }, 403},
		{"empty origin", func(p *plain) { p.header["Origin"] = []string{""} }, 403},
		{"two origins", func(p *plain) { p.header["Origin"] = []string{"http://localhost", "https://evil.example"} }, 403},
		{"origin that begins like ours", func(p *plain) { p.header.Set("Origin", "http://localhost.evil.example") }, 403},
		{"origin with a user", func(p *plain) { p.header.Set("Origin", "http://localhost@evil.example") }, 403},
		{"origin of another scheme", func(p *plain) { p.header.Set("Origin", "file://localhost") }, 403},
		{"no token", func(p *plain) { p.header.Del("Authorization") }, 401},
		{"other token", func(p *plain) { p.header.Set("Authorization", "Bearer "+token+"x") }, 401},
		{"part of the token", func(p *plain) { p.header.Set("Authorization", "Bearer "+token[:5]) }, 401},
		{"empty token", func(p *plain) { p.header.Set("Authorization", "Bearer ") }, 401},
		{"basic", func(p *plain) { p.header.Set("Authorization", "Basic "+token) }, 401},
		{"two tokens", func(p *plain) { p.header["Authorization"] = []string{"Bearer " + token, "Bearer x"} }, 401},
		{"token in the query", func(p *plain) {
			p.header.Del("Authorization")
			p.path = "/mcp?token=" + token + "&access_token=" + token
		}, 401},
		{"scheme in lower case", func(p *plain) { p.header.Set("Authorization", "bearer "+token) }, 200},
	}
	executed := 0
	for _, c := range cases {
		p := s.modernCall()
		p.host = address
		c.change(&p)
		status, header, body := s.fetch(p)
		if status != c.want {
			t.Errorf("%s: status %d, want %d: %s", c.name, status, c.want, body)
		}
		if c.want == 200 {
			executed++
		}
		if status == 401 && header.Get("WWW-Authenticate") == "" {
			t.Errorf("%s: no WWW-Authenticate", c.name)
		}
		if header.Get("Access-Control-Allow-Origin") != "" || header.Get("Cache-Control") != "no-store" || header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: headers %v", c.name, header)
		}
		s.executed("read", executed)
	}
}

// TestGuardOtherWays: the guard precedes every method and every path, and only /mcp is served
// (A097).
func TestGuardOtherWays(t *testing.T) {
	s := start(t, setup{})
	for _, method := range []string{"GET", "DELETE", "PUT", "OPTIONS", "HEAD", "PATCH", "POST"} {
		p := s.modernCall()
		p.method = method
		p.header.Del("Authorization")
		if status, _, _ := s.fetch(p); status != 401 {
			t.Errorf("%s without a token: status %d", method, status)
		}
	}
	for _, path := range []string{"/", "/sse/", "/message", "/messages/", "/health", "/metrics", "/debug/pprof", "//mcp", "/mcp/", "/MCP", "/mcp/../mcp", "/x/..;/mcp", "/mcp%2f", "/%6dcp/"} {
		p := s.modernCall()
		p.path = path
		if status, _, body := s.fetch(p); status != 404 {
			t.Errorf("%s: status %d: %s", path, status, body)
		}
	}
	for method, want := range map[string]int{"PUT": 405, "OPTIONS": 405, "HEAD": 405, "PATCH": 405, "GET": 405, "DELETE": 405} {
		p := s.modernCall()
		p.method = method
		if status, _, _ := s.fetch(p); status != want {
			t.Errorf("%s: status %d, want %d", method, status, want)
		}
	}
	s.executed("", 0)
}

// TestBodies: A013, A025 to A027. A body that is not clearly JSON in UTF-8 is refused and never
// forwarded unread; a body within the limit is read completely.
func TestBodies(t *testing.T) {
	s := start(t, setup{change: func(o *proxy.Options) { o.MaxRequest = 2000 }})
	utf16 := func(p *plain) {
		var b bytes.Buffer
		for _, c := range []byte(p.body) {
			b.Write([]byte{0, c})
		}
		p.body = b.String()
	}
	cases := []struct {
		name   string
		change func(*plain)
		want   int
	}{
		{"charset", func(p *plain) { p.header.Set("Content-Type", "application/json;charset=utf-8") }, 200},
		{"case", func(p *plain) { p.header.Set("Content-Type", "Application/JSON; Charset=UTF-8") }, 200},
		{"identity", func(p *plain) { p.header.Set("Content-Encoding", "identity") }, 200},
		{"none", func(p *plain) { p.header.Del("Content-Type") }, 415},
		{"text", func(p *plain) { p.header.Set("Content-Type", "text/plain") }, 415},
		{"list", func(p *plain) { p.header.Set("Content-Type", "application/json, text/plain") }, 415},
		{"twice", func(p *plain) { p.header["Content-Type"] = []string{"application/json", "application/json"} }, 400},
		{"other json", func(p *plain) { p.header.Set("Content-Type", "application/vnd.api+json") }, 415},
		{"UTF-16", func(p *plain) { p.header.Set("Content-Type", "application/json; charset=utf-16"); utf16(p) }, 415},
		{"UTF-16 unsaid", utf16, 400},
		{"gzip", func(p *plain) { p.header.Set("Content-Encoding", "gzip") }, 415},
		{"unknown coding", func(p *plain) { p.header.Set("Content-Encoding", "identity, br") }, 415},
		{"name twice", func(p *plain) { p.header["Mcp-Name"] = []string{"read", "read"} }, 400},
		{"method twice", func(p *plain) { p.header["Mcp-Method"] = []string{"tools/call", "ping"} }, 400},
		{"version twice", func(p *plain) { p.header["Mcp-Protocol-Version"] = []string{"2026-07-28", "2025-11-25"} }, 400},
		{"empty", func(p *plain) { p.body = "" }, 400},
		{"just fits", func(p *plain) { p.body += strings.Repeat(" ", 2000-len(p.body)) }, 200},
		{"a byte too long", func(p *plain) { p.body += strings.Repeat(" ", 2001-len(p.body)) }, 413},
		{"far too long", func(p *plain) { p.body += strings.Repeat(" ", 100<<10) }, 413},
	}
	executed := 0
	for _, c := range cases {
		p := s.modernCall()
		c.change(&p)
		status, _, body := s.fetch(p)
		if status != c.want {
			t.Errorf("%s: status %d, want %d: %s", c.name, status, c.want, body)
		}
		if c.want == 200 {
			executed++
		}
		s.executed("", executed)
	}
}

// TestBodyWithoutLength: the limit applies to a body without an announced length.
func TestBodyWithoutLength(t *testing.T) {
	t.Parallel()
	s := start(t, setup{change: func(o *proxy.Options) { o.MaxRequest = 2000 }})
	for size, want := range map[int]int{2000: 200, 2001: 413, 100 << 10: 413} {
		p := s.modernCall()
		body := p.body + strings.Repeat(" ", size-len(p.body))
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.http.URL+"/mcp", io.MultiReader(strings.NewReader(body)))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = p.header
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		response, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("%d bytes: status %d, want %d", size, response.StatusCode, want)
		}
	}
	s.executed("", 1)
}

// TestLineLimit: over stdio a message that is too long is refused, and the stream continues after
// it.
func TestLineLimit(t *testing.T) {
	for _, l := range []leg{legs()[0], legs()[3]} {
		t.Run(l.name, func(t *testing.T) {
			s := start(t, setup{change: func(o *proxy.Options) { o.MaxRequest = 2000 }})
			c := s.connect(l, "")
			for _, size := range []int{2000, 5 << 20} {
				c.send([]byte(`{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{`+c.meta("")+`"name":"read","arguments":{"a":"`+strings.Repeat("x", size)+`"}}}`), nil)
				if r := c.reply("null"); r.code() != codeRequest || !strings.Contains(string(r.raw), "longer than the 2000 bytes") {
					t.Errorf("%s", r.raw)
				}
				c.must("safe", `{}`)
			}
			s.executed("read", 0)
		})
	}
}

// TestLargeRequests: a configured limit above the default applies.
func TestLargeRequests(t *testing.T) {
	soak.Bulk(t)
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, setup{change: func(o *proxy.Options) { o.MaxRequest = 16 << 20 }})
		c := s.connect(l, "")
		c.must("read", `{"a":"`+strings.Repeat("x", 4<<20)+`"}`)
	})
}

// TestHeaderMismatch: the headers of revision 2026-07-28 must match the message.
func TestHeaderMismatch(t *testing.T) {
	s := start(t, setup{})
	cases := []struct {
		name   string
		change func(*plain)
		code   string
	}{
		{"other name", func(p *plain) { p.header.Set("Mcp-Name", "safe") }, codeHeaders},
		{"no name", func(p *plain) { p.header.Del("Mcp-Name") }, codeHeaders},
		{"other method", func(p *plain) { p.header.Set("Mcp-Method", "tools/list") }, codeHeaders},
		{"no method", func(p *plain) { p.header.Del("Mcp-Method") }, codeHeaders},
		{"older version", func(p *plain) { p.header.Set("Mcp-Protocol-Version", "2025-11-25") }, codeHeaders},
		{"no version", func(p *plain) { p.header.Del("Mcp-Protocol-Version") }, codeHeaders},
		{"name in base64 of another", func(p *plain) { p.header.Set("Mcp-Name", "=?base64?c2FmZQ==?=") }, codeHeaders},
		{"resumption", func(p *plain) { p.header.Set("Last-Event-Id", "1") }, codeHeaders},
		{"unknown version", func(p *plain) {
			p.header.Set("Mcp-Protocol-Version", "2027-01-01")
			p.body = strings.Replace(p.body, "2026-07-28", "2027-01-01", 1)
		}, "-32022"},
		{"no version in the body", func(p *plain) { p.body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read"}}` }, codeParams},
		{"no capabilities", func(p *plain) {
			p.body = strings.Replace(p.body, `"io.modelcontextprotocol/clientCapabilities":{},`, "", 1)
		}, codeParams},
	}
	for _, c := range cases {
		p := s.modernCall()
		c.change(&p)
		status, _, body := s.fetch(p)
		m := parseMessage([]byte(body), status)
		if status != 400 || m.code() != c.code || m.id != "1" {
			t.Errorf("%s: %d %s, want %s", c.name, status, body, c.code)
		}
	}
	s.executed("", 0)
}

// TestVersions: A096. The refusal is the same in every revision; an unknown revision is served on
// no leg.
func TestVersions(t *testing.T) {
	for _, version := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"} {
		legacyLegs(t, func(t *testing.T, l leg) {
			s := start(t, setup{})
			c := s.connect(l, "")
			c.session, c.version = "", version
			if l.http {
				c.initialize()
			}
			c.must("safe", `{}`)
			c.refuses("danger", `{}`, "blocked")
		})
	}
	modernLegs(t, func(t *testing.T, l leg) {
		s := start(t, setup{})
		c := s.connect(l, "")
		for _, version := range []string{"2027-01-01", "zzz", "9999-99-99"} {
			c.version = version
			if r := c.do("safe", `{}`); r.code() != "-32022" {
				t.Errorf("%s: %s", version, clipped(r.raw))
			}
		}
		s.executed("", 0)
	})
}

// TestSessions: a session belongs to its principal, ends with DELETE, and is known or answered with
// 404.
func TestSessions(t *testing.T) {
	s := start(t, setup{rules: "limit push to 1 per session\n"})
	c := s.connect(legs()[1], "")
	c.must("push", `{}`)
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"push"}}`
	send := func(method, session, body string) int {
		p := s.modernCall()
		p.method, p.body = method, body
		p.header.Set("Mcp-Protocol-Version", "2025-11-25")
		p.header.Del("Mcp-Session-Id")
		if session != "" {
			p.header.Set("Mcp-Session-Id", session)
		}
		status, _, _ := s.fetch(p)
		return status
	}
	for _, unknown := range []string{"x", "mcp-session-0a0a0a0a-0a0a-4a0a-8a0a-0a0a0a0a0a0a", c.session[1:], strings.ToUpper(c.session) + "X", s.proxy.Sessions()[0].ID} {
		for _, method := range []string{"POST", "GET", "DELETE"} {
			if status := send(method, unknown, call); status != 404 {
				t.Errorf("%s in session %q: status %d", method, unknown, status)
			}
		}
	}
	if status := send("POST", "", call); status != 400 {
		t.Errorf("without a session: status %d", status)
	}
	initialize := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`
	if status := send("POST", c.session, initialize); status != 400 {
		t.Errorf("initialize in a session: status %d", status)
	}
	if status := send("DELETE", c.session, ""); status != 200 {
		t.Errorf("DELETE: status %d", status)
	}
	for _, method := range []string{"POST", "GET", "DELETE"} {
		if status := send(method, c.session, call); status != 404 {
			t.Errorf("%s after DELETE: status %d", method, status)
		}
	}
	s.executed("push", 1)
}

// TestOtherPrincipal: the session of one principal is unknown to another, even with its id; nor can
// another principal answer its questions.
func TestOtherPrincipal(t *testing.T) {
	s := start(t, setup{})
	c := s.connect(legs()[1], canElicit)
	q := c.asks("deploy", `{}`)
	open := httptest.NewUnstartedServer(nil)
	handler, err := s.proxy.Handler(proxy.Access{Addr: open.Listener.Addr().String(), Open: true})
	if err != nil {
		t.Fatal(err)
	}
	open.Config.Handler = handler
	open.Start()
	t.Cleanup(open.Close)
	own := s.http
	s.http = open
	for _, method := range []string{"POST", "GET", "DELETE"} {
		p := s.modernCall()
		p.method, p.body = method, `{"jsonrpc":"2.0","id":`+q.elicit+`,"result":`+approve+`}`
		p.header.Set("Mcp-Protocol-Version", "2025-11-25")
		p.header.Set("Mcp-Session-Id", c.session)
		if status, _, body := s.fetch(p); status != 404 {
			t.Errorf("%s: status %d %s", method, status, body)
		}
	}
	s.http = own
	s.executed("deploy", 0)
	if r := q.answer(decline); !r.isError() {
		t.Errorf("%s", r.raw)
	}
}

// TestAccess: a listener that everyone could reach without a token is refused.
func TestAccess(t *testing.T) {
	p, err := proxy.New(proxy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.Close() }()
	for _, a := range []proxy.Access{
		{}, {Addr: "127.0.0.1:80"}, {Addr: "0.0.0.0:80", Open: true}, {Addr: ":80", Open: true}, {Addr: "[::]:80", Open: true}, {Addr: "192.0.2.1:80", Open: true}, {Addr: "example.com:80", Open: true}, {Addr: "nonsense", Token: "x"},
	} {
		if _, err := p.Handler(a); err == nil {
			t.Errorf("%+v is served", a)
		}
	}
	for _, a := range []proxy.Access{{Addr: "127.0.0.1:80", Open: true}, {Addr: "[::1]:80", Open: true}, {Addr: "localhost:80", Open: true}, {Addr: "0.0.0.0:80", Token: "x"}} {
		if _, err := p.Handler(a); err != nil {
			t.Errorf("%+v: %v", a, err)
		}
	}
}

// TestIdleSessionExpires: an unused session expires, and its calls end with it.
func TestIdleSessionExpires(t *testing.T) {
	now := newClock()
	s := start(t, setup{policy: netPolicy(t, gate.Net{Name: "n"}), change: func(o *proxy.Options) { o.Now = now.Now }})
	idle := httptest.NewUnstartedServer(nil)
	handler, err := s.proxy.Handler(proxy.Access{Addr: idle.Listener.Addr().String(), Token: token, IdleTTL: 8 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	idle.Config.Handler = handler
	idle.Start()
	t.Cleanup(idle.Close)
	c := s.connect(legs()[1], "")
	c.must("safe", `{}`)
	now.move(time.Second)
	s.eventually("the session has ended", func() bool { return len(s.proxy.Sessions()) == 0 })
	c.send([]byte(`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"safe"}}`), nil)
	if m := c.await("a 404", func(m message) bool { return m.status >= 400 }); m.status != 404 {
		t.Errorf("%d %s", m.status, m.raw)
	}
}

// TestSessionScope: sessions do not share their states, and stateless requests of one principal do.
func TestSessionScope(t *testing.T) {
	s := start(t, setup{rules: "limit push to 1 per session\n"})
	for _, l := range []leg{legs()[0], legs()[1], legs()[3]} {
		one, two := s.connect(l, ""), s.connect(l, "")
		one.must("push", `{}`)
		one.blocked("push")
		two.must("push", `{}`)
	}
	one, two := s.connect(legs()[2], ""), s.connect(legs()[2], "")
	one.must("push", `{}`)
	two.blocked("push") // B033
	two.capabilities = canElicit
	two.countFrom(1000)
	two.blocked("push")
	s.executed("push", 7)
}
