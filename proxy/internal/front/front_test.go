package front_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/internal/soak"
	"github.com/petrigate/petrigate/proxy"
)

// TestGuard: E001, E002, E004. Host, Origin and token are each required, and nothing is executed
// without them.
func TestGuard(t *testing.T) {
	s := proxytest.Start(t, proxytest.Setup{Rules: "block danger\n"})
	address := s.HTTP.Listener.Addr().String()
	_, port, _ := strings.Cut(address, ":")
	cases := []struct {
		name   string
		change func(*proxytest.HTTPRequest)
		want   int
	}{
		{"as it should be", func(*proxytest.HTTPRequest) {}, 200},
		{"localhost", func(p *proxytest.HTTPRequest) { p.Host = "localhost:" + port }, 200},
		{"IPv6 loopback", func(p *proxytest.HTTPRequest) { p.Host = "[::1]:" + port }, 200},
		{"foreign host", func(p *proxytest.HTTPRequest) { p.Host = "evil.example:" + port }, 403},
		{"foreign host without port", func(p *proxytest.HTTPRequest) { p.Host = "evil.example" }, 403},
		{"other port", func(p *proxytest.HTTPRequest) { p.Host = "localhost:1" }, 403},
		{"host that begins like ours", func(p *proxytest.HTTPRequest) { p.Host = "127.0.0.1.evil.example:" + port }, 403},
		{"host with a user", func(p *proxytest.HTTPRequest) { p.Host = "localhost:" + port + "@evil.example" }, 403},
		{"origin of this machine", func(p *proxytest.HTTPRequest) { p.Header.Set("Origin", "http://localhost:5173") }, 200},
		{"foreign origin", func(p *proxytest.HTTPRequest) { p.Header.Set("Origin", "https://evil.example") }, 403},
		{"null origin", func(p *proxytest.HTTPRequest) { p.Header.Set("Origin", "null") }, 403},
		{"empty origin", func(p *proxytest.HTTPRequest) { p.Header["Origin"] = []string{""} }, 403},
		{"two origins", func(p *proxytest.HTTPRequest) {
			p.Header["Origin"] = []string{"http://localhost", "https://evil.example"}
		}, 403},
		{"origin that begins like ours", func(p *proxytest.HTTPRequest) { p.Header.Set("Origin", "http://localhost.evil.example") }, 403},
		{"origin with a user", func(p *proxytest.HTTPRequest) { p.Header.Set("Origin", "http://localhost@evil.example") }, 403},
		{"origin of another scheme", func(p *proxytest.HTTPRequest) { p.Header.Set("Origin", "file://localhost") }, 403},
		{"no token", func(p *proxytest.HTTPRequest) { p.Header.Del("Authorization") }, 401},
		{"other token", func(p *proxytest.HTTPRequest) { p.Header.Set("Authorization", "Bearer "+proxytest.Token+"x") }, 401},
		{"part of the token", func(p *proxytest.HTTPRequest) { p.Header.Set("Authorization", "Bearer "+proxytest.Token[:5]) }, 401},
		{"empty token", func(p *proxytest.HTTPRequest) { p.Header.Set("Authorization", "Bearer ") }, 401},
		{"basic", func(p *proxytest.HTTPRequest) { p.Header.Set("Authorization", "Basic "+proxytest.Token) }, 401},
		{"two tokens", func(p *proxytest.HTTPRequest) {
			p.Header["Authorization"] = []string{"Bearer " + proxytest.Token, "Bearer x"}
		}, 401},
		{"token in the query", func(p *proxytest.HTTPRequest) {
			p.Header.Del("Authorization")
			p.Path = "/mcp?token=" + proxytest.Token + "&access_token=" + proxytest.Token
		}, 401},
		{"scheme in lower case", func(p *proxytest.HTTPRequest) { p.Header.Set("Authorization", "bearer "+proxytest.Token) }, 200},
	}
	executed := 0
	for _, c := range cases {
		p := s.ModernCall()
		p.Host = address
		c.change(&p)
		status, header, body := s.Fetch(p)
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
		s.Executed("read", executed)
	}
}

// TestGuardOtherWays: the guard precedes every method and every path, and only /mcp is served
// (A097).
func TestGuardOtherWays(t *testing.T) {
	s := proxytest.Start(t, proxytest.Setup{})
	for _, method := range []string{"GET", "DELETE", "PUT", "OPTIONS", "HEAD", "PATCH", "POST"} {
		p := s.ModernCall()
		p.Method = method
		p.Header.Del("Authorization")
		if status, _, _ := s.Fetch(p); status != 401 {
			t.Errorf("%s without a token: status %d", method, status)
		}
	}
	for _, path := range []string{"/", "/sse/", "/message", "/messages/", "/health", "/metrics", "/debug/pprof", "//mcp", "/mcp/", "/MCP", "/mcp/../mcp", "/x/..;/mcp", "/mcp%2f", "/%6dcp/"} {
		p := s.ModernCall()
		p.Path = path
		if status, _, body := s.Fetch(p); status != 404 {
			t.Errorf("%s: status %d: %s", path, status, body)
		}
	}
	for method, want := range map[string]int{"PUT": 405, "OPTIONS": 405, "HEAD": 405, "PATCH": 405, "GET": 405, "DELETE": 405} {
		p := s.ModernCall()
		p.Method = method
		if status, _, _ := s.Fetch(p); status != want {
			t.Errorf("%s: status %d, want %d", method, status, want)
		}
	}
	s.Executed("", 0)
}

// TestBodies: A013, A025 to A027. A body that is not clearly JSON in UTF-8 is refused and never
// forwarded unread; a body within the limit is read completely.
func TestBodies(t *testing.T) {
	s := proxytest.Start(t, proxytest.Setup{Change: func(o *proxy.Options) { o.MaxRequest = 2000 }})
	utf16 := func(p *proxytest.HTTPRequest) {
		var b bytes.Buffer
		for _, c := range []byte(p.Body) {
			b.Write([]byte{0, c})
		}
		p.Body = b.String()
	}
	cases := []struct {
		name   string
		change func(*proxytest.HTTPRequest)
		want   int
	}{
		{"charset", func(p *proxytest.HTTPRequest) { p.Header.Set("Content-Type", "application/json;charset=utf-8") }, 200},
		{"case", func(p *proxytest.HTTPRequest) { p.Header.Set("Content-Type", "Application/JSON; Charset=UTF-8") }, 200},
		{"identity", func(p *proxytest.HTTPRequest) { p.Header.Set("Content-Encoding", "identity") }, 200},
		{"none", func(p *proxytest.HTTPRequest) { p.Header.Del("Content-Type") }, 415},
		{"text", func(p *proxytest.HTTPRequest) { p.Header.Set("Content-Type", "text/plain") }, 415},
		{"list", func(p *proxytest.HTTPRequest) { p.Header.Set("Content-Type", "application/json, text/plain") }, 415},
		{"twice", func(p *proxytest.HTTPRequest) {
			p.Header["Content-Type"] = []string{"application/json", "application/json"}
		}, 400},
		{"other json", func(p *proxytest.HTTPRequest) { p.Header.Set("Content-Type", "application/vnd.api+json") }, 415},
		{"UTF-16", func(p *proxytest.HTTPRequest) {
			p.Header.Set("Content-Type", "application/json; charset=utf-16")
			utf16(p)
		}, 415},
		{"UTF-16 unsaid", utf16, 400},
		{"gzip", func(p *proxytest.HTTPRequest) { p.Header.Set("Content-Encoding", "gzip") }, 415},
		{"unknown coding", func(p *proxytest.HTTPRequest) { p.Header.Set("Content-Encoding", "identity, br") }, 415},
		{"name twice", func(p *proxytest.HTTPRequest) { p.Header["Mcp-Name"] = []string{"read", "read"} }, 400},
		{"method twice", func(p *proxytest.HTTPRequest) { p.Header["Mcp-Method"] = []string{"tools/call", "ping"} }, 400},
		{"version twice", func(p *proxytest.HTTPRequest) {
			p.Header["Mcp-Protocol-Version"] = []string{"2026-07-28", "2025-11-25"}
		}, 400},
		{"empty", func(p *proxytest.HTTPRequest) { p.Body = "" }, 400},
		{"just fits", func(p *proxytest.HTTPRequest) { p.Body += strings.Repeat(" ", 2000-len(p.Body)) }, 200},
		{"a byte too long", func(p *proxytest.HTTPRequest) { p.Body += strings.Repeat(" ", 2001-len(p.Body)) }, 413},
		{"far too long", func(p *proxytest.HTTPRequest) { p.Body += strings.Repeat(" ", 100<<10) }, 413},
	}
	executed := 0
	for _, c := range cases {
		p := s.ModernCall()
		c.change(&p)
		status, _, body := s.Fetch(p)
		if status != c.want {
			t.Errorf("%s: status %d, want %d: %s", c.name, status, c.want, body)
		}
		if c.want == 200 {
			executed++
		}
		s.Executed("", executed)
	}
}

// TestBodyWithoutLength: the limit applies to a body without an announced length.
func TestBodyWithoutLength(t *testing.T) {
	t.Parallel()
	s := proxytest.Start(t, proxytest.Setup{Change: func(o *proxy.Options) { o.MaxRequest = 2000 }})
	for size, want := range map[int]int{2000: 200, 2001: 413, 100 << 10: 413} {
		p := s.ModernCall()
		body := p.Body + strings.Repeat(" ", size-len(p.Body))
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.HTTP.URL+"/mcp", io.MultiReader(strings.NewReader(body)))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = p.Header
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
	s.Executed("", 1)
}

// TestLineLimit: over stdio a message that is too long is refused, and the stream continues after
// it.
func TestLineLimit(t *testing.T) {
	for _, l := range []proxytest.Leg{proxytest.Legs()[0], proxytest.Legs()[3]} {
		t.Run(l.Name, func(t *testing.T) {
			s := proxytest.Start(t, proxytest.Setup{Change: func(o *proxy.Options) { o.MaxRequest = 2000 }})
			c := s.Connect(l, "")
			for _, size := range []int{2000, 5 << 20} {
				c.Send([]byte(`{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{`+c.Meta("")+`"name":"read","arguments":{"a":"`+strings.Repeat("x", size)+`"}}}`), nil)
				if r := c.Reply("null"); r.Code() != proxytest.CodeRequest || !strings.Contains(string(r.Raw), "longer than 2000 bytes") {
					t.Errorf("%s", r.Raw)
				}
				c.Must("safe", `{}`)
			}
			s.Executed("read", 0)
		})
	}
}

// TestLargeRequests: a configured limit above the default applies.
func TestLargeRequests(t *testing.T) {
	soak.Bulk(t)
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{Change: func(o *proxy.Options) { o.MaxRequest = 16 << 20 }})
		c := s.Connect(l, "")
		c.Must("read", `{"a":"`+strings.Repeat("x", 4<<20)+`"}`)
	})
}

// TestHeaderMismatch: the headers of revision 2026-07-28 must match the message.
func TestHeaderMismatch(t *testing.T) {
	s := proxytest.Start(t, proxytest.Setup{})
	cases := []struct {
		name   string
		change func(*proxytest.HTTPRequest)
		code   string
	}{
		{"other name", func(p *proxytest.HTTPRequest) { p.Header.Set("Mcp-Name", "safe") }, proxytest.CodeHeaders},
		{"no name", func(p *proxytest.HTTPRequest) { p.Header.Del("Mcp-Name") }, proxytest.CodeHeaders},
		{"other method", func(p *proxytest.HTTPRequest) { p.Header.Set("Mcp-Method", "tools/list") }, proxytest.CodeHeaders},
		{"no method", func(p *proxytest.HTTPRequest) { p.Header.Del("Mcp-Method") }, proxytest.CodeHeaders},
		{"older version", func(p *proxytest.HTTPRequest) { p.Header.Set("Mcp-Protocol-Version", "2025-11-25") }, proxytest.CodeHeaders},
		{"no version", func(p *proxytest.HTTPRequest) { p.Header.Del("Mcp-Protocol-Version") }, proxytest.CodeHeaders},
		{"name in base64 of another", func(p *proxytest.HTTPRequest) { p.Header.Set("Mcp-Name", "=?base64?c2FmZQ==?=") }, proxytest.CodeHeaders},
		{"resumption", func(p *proxytest.HTTPRequest) { p.Header.Set("Last-Event-Id", "1") }, proxytest.CodeHeaders},
		{"unknown version", func(p *proxytest.HTTPRequest) {
			p.Header.Set("Mcp-Protocol-Version", "2027-01-01")
			p.Body = strings.Replace(p.Body, "2026-07-28", "2027-01-01", 1)
		}, "-32022"},
		{"no version in the body", func(p *proxytest.HTTPRequest) {
			p.Body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read"}}`
		}, proxytest.CodeParams},
		{"no capabilities", func(p *proxytest.HTTPRequest) {
			p.Body = strings.Replace(p.Body, `"io.modelcontextprotocol/clientCapabilities":{},`, "", 1)
		}, proxytest.CodeParams},
	}
	for _, c := range cases {
		p := s.ModernCall()
		c.change(&p)
		status, _, body := s.Fetch(p)
		m := proxytest.ParseMessage([]byte(body), status)
		if status != 400 || m.Code() != c.code || m.ID != "1" {
			t.Errorf("%s: %d %s, want %s", c.name, status, body, c.code)
		}
	}
	s.Executed("", 0)
}

// TestVersions: A096. The refusal is the same in every revision; an unknown revision is served on
// no leg.
func TestVersions(t *testing.T) {
	for _, version := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"} {
		proxytest.LegacyLegs(t, func(t *testing.T, l proxytest.Leg) {
			s := proxytest.Start(t, proxytest.Setup{})
			c := s.Connect(l, "")
			c.Session, c.Version = "", version
			if l.HTTP {
				c.Initialize()
			}
			c.Must("safe", `{}`)
			c.Refuses("danger", `{}`, "blocked")
		})
	}
	proxytest.ModernLegs(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{})
		c := s.Connect(l, "")
		for _, version := range []string{"2027-01-01", "zzz", "9999-99-99"} {
			c.Version = version
			if r := c.Do("safe", `{}`); r.Code() != "-32022" {
				t.Errorf("%s: %s", version, proxytest.Clip(r.Raw))
			}
		}
		s.Executed("", 0)
	})
}

// TestSessions: a session belongs to its principal, ends with DELETE, and is known or answered with
// 404.
func TestSessions(t *testing.T) {
	s := proxytest.Start(t, proxytest.Setup{Rules: "limit push to 1 per session\n"})
	c := s.Connect(proxytest.Legs()[1], "")
	c.Must("push", `{}`)
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"push"}}`
	send := func(method, session, body string) int {
		p := s.ModernCall()
		p.Method, p.Body = method, body
		p.Header.Set("Mcp-Protocol-Version", "2025-11-25")
		p.Header.Del("Mcp-Session-Id")
		if session != "" {
			p.Header.Set("Mcp-Session-Id", session)
		}
		status, _, _ := s.Fetch(p)
		return status
	}
	for _, unknown := range []string{"x", "mcp-session-0a0a0a0a-0a0a-4a0a-8a0a-0a0a0a0a0a0a", c.Session[1:], strings.ToUpper(c.Session) + "X", s.Proxy.Sessions()[0].ID} {
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
	if status := send("POST", c.Session, initialize); status != 400 {
		t.Errorf("initialize in a session: status %d", status)
	}
	if status := send("DELETE", c.Session, ""); status != 200 {
		t.Errorf("DELETE: status %d", status)
	}
	for _, method := range []string{"POST", "GET", "DELETE"} {
		if status := send(method, c.Session, call); status != 404 {
			t.Errorf("%s after DELETE: status %d", method, status)
		}
	}
	s.Executed("push", 1)
}

// TestOtherPrincipal: the session of one principal is unknown to another, even with its id; nor can
// another principal answer its questions.
func TestOtherPrincipal(t *testing.T) {
	s := proxytest.Start(t, proxytest.Setup{})
	c := s.Connect(proxytest.Legs()[1], proxytest.CanElicit)
	q := c.Asks("deploy", `{}`)
	open := httptest.NewUnstartedServer(nil)
	handler, err := s.Proxy.Handler(proxy.Access{Addr: open.Listener.Addr().String(), Open: true})
	if err != nil {
		t.Fatal(err)
	}
	open.Config.Handler = handler
	open.Start()
	t.Cleanup(open.Close)
	own := s.HTTP
	s.HTTP = open
	for _, method := range []string{"POST", "GET", "DELETE"} {
		p := s.ModernCall()
		p.Method, p.Body = method, `{"jsonrpc":"2.0","id":`+q.Elicit+`,"result":`+proxytest.Approve+`}`
		p.Header.Set("Mcp-Protocol-Version", "2025-11-25")
		p.Header.Set("Mcp-Session-Id", c.Session)
		if status, _, body := s.Fetch(p); status != 404 {
			t.Errorf("%s: status %d %s", method, status, body)
		}
	}
	s.HTTP = own
	s.Executed("deploy", 0)
	if r := q.Answer(proxytest.Decline); !r.IsError() {
		t.Errorf("%s", r.Raw)
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
	now := proxytest.NewClock()
	s := proxytest.Start(t, proxytest.Setup{Policy: proxytest.NetPolicy(t, gate.Net{Name: "n"}), Change: func(o *proxy.Options) { o.Now = now.Now }})
	idle := httptest.NewUnstartedServer(nil)
	handler, err := s.Proxy.Handler(proxy.Access{Addr: idle.Listener.Addr().String(), Token: proxytest.Token, IdleTTL: 8 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	idle.Config.Handler = handler
	idle.Start()
	t.Cleanup(idle.Close)
	c := s.Connect(proxytest.Legs()[1], "")
	c.Must("safe", `{}`)
	now.Move(time.Second)
	s.Eventually("the session has ended", func() bool { return len(s.Proxy.Sessions()) == 0 })
	c.Send([]byte(`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"safe"}}`), nil)
	if m := c.Await("a 404", func(m proxytest.Message) bool { return m.Status >= 400 }); m.Status != 404 {
		t.Errorf("%d %s", m.Status, m.Raw)
	}
}

// TestSessionScope: sessions do not share their states, and stateless requests of one principal do.
func TestSessionScope(t *testing.T) {
	s := proxytest.Start(t, proxytest.Setup{Rules: "limit push to 1 per session\n"})
	for _, l := range []proxytest.Leg{proxytest.Legs()[0], proxytest.Legs()[1], proxytest.Legs()[3]} {
		one, two := s.Connect(l, ""), s.Connect(l, "")
		one.Must("push", `{}`)
		one.CallBlocked("push")
		two.Must("push", `{}`)
	}
	one, two := s.Connect(proxytest.Legs()[2], ""), s.Connect(proxytest.Legs()[2], "")
	one.Must("push", `{}`)
	two.CallBlocked("push") // B033
	two.Capabilities = proxytest.CanElicit
	two.CountFrom(1000)
	two.CallBlocked("push")
	s.Executed("push", 7)
}
