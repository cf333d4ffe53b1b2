package proxy_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// TestSpoofedHeaders: E008, E028. Headers of reverse proxies in a request change neither its
// principal nor the decision.
func TestSpoofedHeaders(t *testing.T) {
	s := start(t, setup{})
	spoofed := func(p *plain) {
		for _, name := range []string{
			"X-Forwarded-User", "X_forwarded_user", "X-Remote-User", "X-Auth-Request-User", "X-Forwarded-For", "X-Real-Ip", "Forwarded", "X-Forwarded-Host",
			"X-Original-Url", "X-Rewrite-Url", "X-Http-Method-Override", "Mcp-Init-Host", "Router-Key", "X-Petrigate-Mode", "X-Shadow", "X-Dry-Run", "Cookie",
		} {
			p.header.Set(name, "127.0.0.1")
		}
	}
	p := s.modernCall()
	s.fetch(p)
	spoofed(&p)
	if status, _, body := s.fetch(p); status != 200 {
		t.Errorf("%d %s", status, body)
	}
	all := s.records.decisions("")
	if len(all) != 2 || all[0].Principal != all[1].Principal || all[0].Session != all[1].Session || all[1].Shadow {
		t.Errorf("%+v", all)
	}
	p = s.modernCall()
	spoofed(&p)
	p.header.Set("Mcp-Name", "danger")
	p.body = strings.Replace(p.body, `"name":"read"`, `"name":"danger"`, 1)
	if _, _, body := s.fetch(p); !strings.Contains(body, `"isError":true`) {
		t.Error(body)
	}
	p.header.Del("Authorization")
	if status, _, _ := s.fetch(p); status != 401 {
		t.Errorf("without a token: %d", status)
	}
	s.executed("danger", 0)
}

// TestEveryRequestIsAsked: E005. Each endpoint requires the token each time: streams, the end of a
// session, and HTTP+SSE (2024-11-05).
func TestEveryRequestIsAsked(t *testing.T) {
	s := start(t, setup{rules: "block danger\n"})
	session := s.open(token)
	for _, c := range []struct{ method, path string }{
		{"GET", "/mcp"}, {"DELETE", "/mcp"}, {"POST", "/mcp"}, {"GET", "/sse"}, {"POST", "/messages?sessionId=" + session},
	} {
		for _, authorization := range [][]string{nil, {"Bearer x"}, {"Basic " + token}, {"Bearer " + token, "Bearer " + token}} {
			p := s.modernCall()
			p.method, p.path, p.body = c.method, c.path, pushing
			p.header.Set("Mcp-Protocol-Version", "2025-11-25")
			p.header.Set("Mcp-Session-Id", session)
			p.header.Del("Authorization")
			if authorization != nil {
				p.header["Authorization"] = authorization
			}
			if status, header, _ := s.fetch(p); status != 401 || header.Get("WWW-Authenticate") == "" {
				t.Errorf("%s %s as %q: %d", c.method, c.path, authorization, status)
			}
		}
	}
	p := s.modernCall()
	p.header.Del("Authorization")
	p.header.Set("Mcp-Method", "subscriptions/listen")
	p.header.Del("Mcp-Name")
	p.body = strings.Replace(p.body, `"tools/call"`, `"subscriptions/listen"`, 1)
	if status, _, _ := s.fetch(p); status != 401 {
		t.Errorf("subscriptions/listen: %d", status)
	}
	if status, _, body := s.inSession(token, session, pushing); status != 200 { // the session still exists
		t.Errorf("%d %s", status, body)
	}
	s.executed("push", 1)
}

// TestHeadersThatAlmostAgree: E009. The headers of revision 2026-07-28 are compared exactly, and
// never replace the message.
func TestHeadersThatAlmostAgree(t *testing.T) {
	s := start(t, setup{})
	for name, change := range map[string]func(http.Header){
		"method in other case":  func(h http.Header) { h.Set("Mcp-Method", "Tools/Call") },
		"method with a comment": func(h http.Header) { h.Set("Mcp-Method", "tools/call;x") },
		"two methods in one":    func(h http.Header) { h.Set("Mcp-Method", "tools/call, ping") },
		"name in other case":    func(h http.Header) { h.Set("Mcp-Name", "Read") },
		"empty name":            func(h http.Header) { h.Set("Mcp-Name", "") },
		"name in quotes":        func(h http.Header) { h.Set("Mcp-Name", `"read"`) },
		"name with a sentinel":  func(h http.Header) { h.Set("Mcp-Name", "=?base64?cmVhZA?=") },
		"another in base64":     func(h http.Header) { h.Set("Mcp-Name", "=?base64?ZGFuZ2Vy?=") },
		"broken base64":         func(h http.Header) { h.Set("Mcp-Name", "=?base64?****?=") },
	} {
		p := s.modernCall()
		change(p.header)
		if status, _, body := s.fetch(p); status != 400 || parseMessage([]byte(body), status).code() != codeHeaders {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
	s.executed("", 0)
	p := s.modernCall() // the header names read, and the message danger
	p.body = strings.Replace(p.body, `"name":"read"`, `"name":"danger"`, 1)
	if status, _, _ := s.fetch(p); status != 400 {
		t.Error(status)
	}
	s.executed("", 0)
}

// TestEndlessBody: E011. An endless body is refused while it arrives.
func TestEndlessBody(t *testing.T) {
	t.Parallel()
	s := start(t, setup{change: func(o *proxy.Options) { o.MaxRequest = 2000 }})
	conn, err := net.Dial("tcp", s.http.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_, _ = fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n", conn.RemoteAddr(), token)
	written := make(chan struct{})
	go func() {
		defer close(written)
		for {
			if _, err := io.WriteString(conn, "400\r\n"+strings.Repeat(" ", 0x400)+"\r\n"); err != nil {
				return // enough bytes were accepted
			}
		}
	}()
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || response.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("%v %v", response, err)
	}
	<-written // the connection is closed, so that the rest need not be read
	s.executed("", 0)
}

// TestNothingToKeep: E033, E034. No response can be cached, none reveals the server software, and a
// list from before a change decides nothing.
func TestNothingToKeep(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, setup{})
		c := s.connect(l, "")
		list := c.list()
		if l.modern && (at(list.result, "cacheScope") != `"private"` || at(list.result, "ttlMs") != "0") {
			t.Errorf("%s", clipped(list.raw))
		}
		if !strings.Contains(string(list.raw), `"danger"`) {
			t.Error("what is blocked is not listed here")
		}
		c.refuses("danger", `{}`, "blocked")
	})
	s := start(t, setup{})
	_, header, _ := s.fetch(s.modernCall())
	for _, name := range []string{"Server", "X-Powered-By", "Access-Control-Allow-Origin", "Etag", "Last-Modified"} {
		if header.Get(name) != "" {
			t.Errorf("%s: %s", name, header.Get(name))
		}
	}
}

// TestPagesOfOthers: E031. No page of another site is allowed to read responses.
func TestPagesOfOthers(t *testing.T) {
	s := start(t, setup{})
	for _, origin := range []string{"https://evil.example", "null", "http://localhost:5173"} {
		p := s.modernCall()
		p.method = "OPTIONS"
		p.header.Set("Origin", origin)
		p.header.Set("Access-Control-Request-Method", "POST")
		p.header.Set("Access-Control-Request-Headers", "authorization")
		status, header, _ := s.fetch(p)
		for name := range header {
			if strings.HasPrefix(name, "Access-Control-") {
				t.Errorf("%s: %s", origin, name)
			}
		}
		if status == http.StatusOK || status == http.StatusNoContent {
			t.Errorf("%s: %d", origin, status)
		}
	}
}

// TestLogIsOneLineEach: E016. Whatever is in names, arguments and headers, a log record is one line
// without control sequences.
func TestLogIsOneLineEach(t *testing.T) {
	const evil = "x\n{\"level\":\"ERROR\",\"msg\":\"forged\"}\r\x1b[2J\u202e"
	eachLeg(t, func(t *testing.T, l leg) {
		log := &lines{}
		s := start(t, setup{change: func(o *proxy.Options) {
			o.Logger = slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		}})
		s.clientName = evil
		c := s.connect(l, "")
		c.do("danger", fmt.Sprintf(`{"a":%q}`, "y"))
		c.unknown("danger\u202e\u200b")
		if !l.http || !l.modern { // a leg whose headers cannot contain it
			c.reply(c.sendf(`{"jsonrpc":"2.0","id":%ID%,"method":"frob\u000a\u001b[2J","params":{%META%"x":0}}`))
		}
		c.must("log", `{"n":3}`)
		c.must("safe", `{}`)
		for line := range strings.Lines(log.String()) {
			if !strings.HasPrefix(line, `{"time":`) || !strings.HasSuffix(line, "}\n") || strings.ContainsAny(line, "\x1b\r") {
				t.Errorf("%q", line)
			}
		}
		for _, record := range s.records.all() {
			if bytes.ContainsAny(record, "\n\r\x1b") || bytes.Contains(record, []byte("forged\"}\r")) {
				t.Errorf("%q", record)
			}
		}
	})
}

// TestIPv6Only: F023. The endpoint works where there is only IPv6, for requests addressed to it.
func TestIPv6Only(t *testing.T) {
	listener, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Skip(err)
	}
	s := start(t, setup{})
	handler, err := s.proxy.Handler(proxy.Access{Addr: listener.Addr().String(), Token: token})
	if err != nil {
		t.Fatal(err)
	}
	v6 := &httptest.Server{Listener: listener, Config: &http.Server{Handler: handler}}
	v6.Start()
	defer v6.Close()
	s.http = v6
	for host, want := range map[string]int{"": 200, "[::1]": 403, "[::2]:80": 403} {
		p := s.modernCall()
		p.host = host
		if status, _, body := s.fetch(p); status != want {
			t.Errorf("Host %q: %d %s", host, status, body)
		}
	}
}

// TestManyTools: F013. Thousands of tools behind hundreds of rules are listed and decided on.
func TestManyTools(t *testing.T) {
	var tools []testserver.Tool
	for i := range 5000 {
		tools = append(tools, running(testserver.Tool{Name: fmt.Sprintf("tool_%d", i)}))
	}
	var rules strings.Builder
	for i := range 500 {
		fmt.Fprintf(&rules, "block tool_%d\n", i*10)
	}
	s := start(t, setup{rules: rules.String(), server: testserver.Options{Tools: tools, PageSize: 500}})
	for _, l := range legs() {
		c := s.connect(l, "")
		if n := len(c.list().tools()); n != len(tools) {
			t.Errorf("%s: %d tools", l.name, n)
		}
		c.must("tool_4999", `{}`)
		c.blocked("tool_4990")
	}
}
