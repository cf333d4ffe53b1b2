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

	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// TestSpoofedHeaders: E008, E028. Headers of reverse proxies in a request change neither its
// principal nor the decision.
func TestSpoofedHeaders(t *testing.T) {
	s := proxytest.Start(t, proxytest.Setup{})
	spoofed := func(p *proxytest.HTTPRequest) {
		for _, name := range []string{
			"X-Forwarded-User", "X_forwarded_user", "X-Remote-User", "X-Auth-Request-User", "X-Forwarded-For", "X-Real-Ip", "Forwarded", "X-Forwarded-Host",
			"X-Original-Url", "X-Rewrite-Url", "X-Http-Method-Override", "Mcp-Init-Host", "Router-Key", "X-Petrigate-Mode", "X-Shadow", "X-Dry-Run", "Cookie",
		} {
			p.Header.Set(name, "127.0.0.1")
		}
	}
	p := s.ModernCall()
	s.Fetch(p)
	spoofed(&p)
	if status, _, body := s.Fetch(p); status != 200 {
		t.Errorf("%d %s", status, body)
	}
	all := s.Records.Decisions("")
	if len(all) != 2 || all[0].Principal != all[1].Principal || all[0].Session != all[1].Session || all[1].Shadow {
		t.Errorf("%+v", all)
	}
	p = s.ModernCall()
	spoofed(&p)
	p.Header.Set("Mcp-Name", "danger")
	p.Body = strings.Replace(p.Body, `"name":"read"`, `"name":"danger"`, 1)
	if _, _, body := s.Fetch(p); !strings.Contains(body, `"isError":true`) {
		t.Error(body)
	}
	p.Header.Del("Authorization")
	if status, _, _ := s.Fetch(p); status != 401 {
		t.Errorf("without a token: %d", status)
	}
	s.Executed("danger", 0)
}

// TestEveryRequestIsAsked: E005. Each endpoint requires the token each time: streams, the end of a
// session, and HTTP+SSE (2024-11-05).
func TestEveryRequestIsAsked(t *testing.T) {
	s := proxytest.Start(t, proxytest.Setup{Rules: "block danger\n"})
	session := s.OpenSession(proxytest.Token)
	for _, c := range []struct{ method, path string }{
		{"GET", "/mcp"}, {"DELETE", "/mcp"}, {"POST", "/mcp"}, {"GET", "/sse"}, {"POST", "/messages?sessionId=" + session},
	} {
		for _, authorization := range [][]string{nil, {"Bearer x"}, {"Basic " + proxytest.Token}, {"Bearer " + proxytest.Token, "Bearer " + proxytest.Token}} {
			p := s.ModernCall()
			p.Method, p.Path, p.Body = c.method, c.path, proxytest.PushRequest
			p.Header.Set("Mcp-Protocol-Version", "2025-11-25")
			p.Header.Set("Mcp-Session-Id", session)
			p.Header.Del("Authorization")
			if authorization != nil {
				p.Header["Authorization"] = authorization
			}
			if status, header, _ := s.Fetch(p); status != 401 || header.Get("WWW-Authenticate") == "" {
				t.Errorf("%s %s as %q: %d", c.method, c.path, authorization, status)
			}
		}
	}
	p := s.ModernCall()
	p.Header.Del("Authorization")
	p.Header.Set("Mcp-Method", "subscriptions/listen")
	p.Header.Del("Mcp-Name")
	p.Body = strings.Replace(p.Body, `"tools/call"`, `"subscriptions/listen"`, 1)
	if status, _, _ := s.Fetch(p); status != 401 {
		t.Errorf("subscriptions/listen: %d", status)
	}
	if status, _, body := s.InSession(proxytest.Token, session, proxytest.PushRequest); status != 200 { // the session still exists
		t.Errorf("%d %s", status, body)
	}
	s.Executed("push", 1)
}

// TestHeadersThatAlmostAgree: E009. The headers of revision 2026-07-28 are compared exactly, and
// never replace the message.
func TestHeadersThatAlmostAgree(t *testing.T) {
	s := proxytest.Start(t, proxytest.Setup{})
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
		p := s.ModernCall()
		change(p.Header)
		if status, _, body := s.Fetch(p); status != 400 || proxytest.ParseMessage([]byte(body), status).Code() != proxytest.CodeHeaders {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
	s.Executed("", 0)
	p := s.ModernCall() // the header names read, and the message danger
	p.Body = strings.Replace(p.Body, `"name":"read"`, `"name":"danger"`, 1)
	if status, _, _ := s.Fetch(p); status != 400 {
		t.Error(status)
	}
	s.Executed("", 0)
}

// TestEndlessBody: E011. An endless body is refused while it arrives.
func TestEndlessBody(t *testing.T) {
	t.Parallel()
	s := proxytest.Start(t, proxytest.Setup{Change: func(o *proxy.Options) { o.MaxRequest = 2000 }})
	conn, err := net.Dial("tcp", s.HTTP.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_, _ = fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n", conn.RemoteAddr(), proxytest.Token)
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
	s.Executed("", 0)
}

// TestNothingToKeep: E033, E034. No response can be cached, none reveals the server software, and a
// list from before a change decides nothing.
func TestNothingToKeep(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{})
		c := s.Connect(l, "")
		list := c.List()
		if l.Modern && (proxytest.Member(list.Result, "cacheScope") != `"private"` || proxytest.Member(list.Result, "ttlMs") != "0") {
			t.Errorf("%s", proxytest.Clip(list.Raw))
		}
		if !strings.Contains(string(list.Raw), `"danger"`) {
			t.Error("what is blocked is not listed here")
		}
		c.Refuses("danger", `{}`, "blocked")
	})
	s := proxytest.Start(t, proxytest.Setup{})
	_, header, _ := s.Fetch(s.ModernCall())
	for _, name := range []string{"Server", "X-Powered-By", "Access-Control-Allow-Origin", "Etag", "Last-Modified"} {
		if header.Get(name) != "" {
			t.Errorf("%s: %s", name, header.Get(name))
		}
	}
}

// TestPagesOfOthers: E031. No page of another site is allowed to read responses.
func TestPagesOfOthers(t *testing.T) {
	s := proxytest.Start(t, proxytest.Setup{})
	for _, origin := range []string{"https://evil.example", "null", "http://localhost:5173"} {
		p := s.ModernCall()
		p.Method = "OPTIONS"
		p.Header.Set("Origin", origin)
		p.Header.Set("Access-Control-Request-Method", "POST")
		p.Header.Set("Access-Control-Request-Headers", "authorization")
		status, header, _ := s.Fetch(p)
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
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		log := &lines{}
		s := proxytest.Start(t, proxytest.Setup{Change: func(o *proxy.Options) {
			o.Logger = slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		}})
		s.ClientName = evil
		c := s.Connect(l, "")
		c.Do("danger", fmt.Sprintf(`{"a":%q}`, "y"))
		c.CallUnknown("danger\u202e\u200b")
		if !l.HTTP || !l.Modern { // a leg whose headers cannot contain it
			c.Reply(c.Sendf(`{"jsonrpc":"2.0","id":%ID%,"method":"frob\u000a\u001b[2J","params":{%META%"x":0}}`))
		}
		c.Must("log", `{"n":3}`)
		c.Must("safe", `{}`)
		for line := range strings.Lines(log.String()) {
			if !strings.HasPrefix(line, `{"time":`) || !strings.HasSuffix(line, "}\n") || strings.ContainsAny(line, "\x1b\r") {
				t.Errorf("%q", line)
			}
		}
		for _, record := range s.Records.All() {
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
	s := proxytest.Start(t, proxytest.Setup{})
	handler, err := s.Proxy.Handler(proxy.Access{Addr: listener.Addr().String(), Token: proxytest.Token})
	if err != nil {
		t.Fatal(err)
	}
	v6 := &httptest.Server{Listener: listener, Config: &http.Server{Handler: handler}}
	v6.Start()
	defer v6.Close()
	s.HTTP = v6
	for host, want := range map[string]int{"": 200, "[::1]": 403, "[::2]:80": 403} {
		p := s.ModernCall()
		p.Host = host
		if status, _, body := s.Fetch(p); status != want {
			t.Errorf("Host %q: %d %s", host, status, body)
		}
	}
}

// TestManyTools: F013. Thousands of tools behind hundreds of rules are listed and decided on.
func TestManyTools(t *testing.T) {
	var tools []testserver.Tool
	for i := range 5000 {
		tools = append(tools, proxytest.Runnable(testserver.Tool{Name: fmt.Sprintf("tool_%d", i)}))
	}
	var rules strings.Builder
	for i := range 500 {
		fmt.Fprintf(&rules, "block tool_%d\n", i*10)
	}
	s := proxytest.Start(t, proxytest.Setup{Rules: rules.String(), Server: testserver.Options{Tools: tools, PageSize: 500}})
	for _, l := range proxytest.Legs() {
		c := s.Connect(l, "")
		if n := len(c.List().ToolsByName()); n != len(tools) {
			t.Errorf("%s: %d tools", l.Name, n)
		}
		c.Must("tool_4999", `{}`)
		c.CallBlocked("tool_4990")
	}
}
