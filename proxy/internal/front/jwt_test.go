package front_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/proxy"
	"github.com/petrigate/petrigate/proxy/internal/access/issuertest"
)

// jwtDoor returns a door for the tokens of an issuer with the scope mcp.
func jwtDoor(s *proxytest.Site) *issuertest.Issuer {
	i := issuertest.New(s.T)
	s.ServeWith(proxy.Access{JWT: &proxy.JWT{Issuer: i.Name(), Audience: issuertest.Audience, JWKS: i.URL, Scopes: []string{"mcp"}}})
	return i
}

// TestJWT: E004. A token is accepted or refused, the client is told why and where to get one, and
// neither the upstream nor the log contains any of it.
func TestJWT(t *testing.T) {
	var logged lockedBuffer
	s := proxytest.Start(t, proxytest.Setup{Rules: "block danger\n", Change: func(o *proxy.Options) {
		o.Logger = slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}})
	i := jwtDoor(s)
	now := time.Now()
	with := func(name string, value any) string {
		c := i.Claims("ann", now)
		c[name] = value
		return i.Sign("ec", jose.ES256, nil, c)
	}
	good := i.Token("ann")
	const base = `Bearer resource_metadata="https://gate.example/.well-known/oauth-protected-resource/mcp", scope="mcp"`
	cases := []struct {
		name      string
		change    func(*proxytest.HTTPRequest)
		status    int
		challenge string
	}{
		{"good", func(*proxytest.HTTPRequest) {}, 200, ""},
		{"nothing", func(p *proxytest.HTTPRequest) { p.Header.Del("Authorization") }, 401, base},
		{"twice", func(p *proxytest.HTTPRequest) { p.Header.Add("Authorization", "Bearer "+good) }, 401, base},
		{"in the query", func(p *proxytest.HTTPRequest) { p.Header.Del("Authorization"); p.Path += "?access_token=" + good }, 401, base},
		{"in a cookie", func(p *proxytest.HTTPRequest) {
			p.Header.Del("Authorization")
			p.Header.Set("Cookie", "access_token="+good)
		}, 401, base},
		{"trusted headers", func(p *proxytest.HTTPRequest) {
			p.Header.Del("Authorization")
			for _, name := range []string{"X-Forwarded-User", "X_Forwarded_User", "X-Auth-Request-User", "Mcp-Init-Host", "Router-Key", "X-Forwarded-Host"} {
				p.Header[name] = []string{"ann"}
			}
		}, 401, base},
		{"expired", func(p *proxytest.HTTPRequest) {
			p.Header.Set("Authorization", "Bearer "+with("exp", now.Add(-time.Hour).Unix()))
		}, 401, base + `, error="invalid_token", error_description="the token has expired"`},
		{"other audience", func(p *proxytest.HTTPRequest) {
			p.Header.Set("Authorization", "Bearer "+with("aud", "https://other.example"))
		}, 401, base + `, error="invalid_token", error_description="the token is for another audience"`},
		{"the operator's kind", func(p *proxytest.HTTPRequest) { p.Header.Set("Authorization", "Bearer "+proxytest.Token) }, 401, base + `, error="invalid_token", error_description="the token is not a JWT with an accepted signature algorithm"`},
		{"too little", func(p *proxytest.HTTPRequest) { p.Header.Set("Authorization", "Bearer "+with("scope", "other")) }, 403, base + `, error="insufficient_scope", error_description="the token lacks the scope mcp"`},
		{"foreign host", func(p *proxytest.HTTPRequest) { p.Host = "gate.example" }, 403, ""},
		{"foreign origin", func(p *proxytest.HTTPRequest) { p.Header.Set("Origin", "https://evil.example") }, 403, ""},
	}
	for _, c := range cases {
		p := s.ModernCallAs(good)
		c.change(&p)
		status, header, body := s.Fetch(p)
		if status != c.status || header.Get("WWW-Authenticate") != c.challenge {
			t.Errorf("%s: %d %s %s", c.name, status, header.Get("WWW-Authenticate"), body)
		}
		if strings.Contains(body, good) {
			t.Errorf("%s: the answer holds the token", c.name)
		}
	}
	s.Executed("", 1)
	if got := s.Records.Decisions("")[0].Principal; got != "https://issuer.example#ann" {
		t.Errorf("the principal is %q", got)
	}
	signature := good[strings.LastIndex(good, ".")+1:]
	var upstream, audit bytes.Buffer
	for _, r := range s.Log.Records() {
		fmt.Fprintf(&upstream, "%s %v\n", r.Bytes, r.Header)
	}
	for _, line := range s.Records.All() {
		audit.Write(line)
	}
	for what, text := range map[string]string{"log": logged.String(), "upstream": upstream.String(), "audit": audit.String()} {
		if text == "" || strings.Contains(text, signature) {
			t.Errorf("the token is in the %s, or nothing is", what)
		}
	}
}

// lockedBuffer is a log that tests read.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// TestMetadata: RFC 9728. It is available to every allowed host and origin, and only with JWTs.
func TestMetadata(t *testing.T) {
	s := proxytest.Start(t, proxytest.Setup{})
	own := s.HTTP
	jwtDoor(s)
	const where = "/.well-known/oauth-protected-resource"
	want := `{"resource":"https://gate.example/mcp","authorization_servers":["https://issuer.example"],"scopes_supported":["mcp"],"bearer_methods_supported":["header"]}`
	for _, path := range []string{where, where + "/mcp"} {
		status, header, body := s.Fetch(proxytest.HTTPRequest{Method: "GET", Path: path})
		if status != 200 || body != want || header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %d %s", path, status, body)
		}
		for _, p := range []proxytest.HTTPRequest{{Method: "GET", Path: path, Host: "evil.example"}, {Method: "GET", Path: path, Header: http.Header{"Origin": {"https://evil.example"}}}} {
			if status, _, _ := s.Fetch(p); status != 403 {
				t.Errorf("%s from elsewhere: %d", path, status)
			}
		}
		if status, _, _ := s.Fetch(proxytest.HTTPRequest{Method: "POST", Path: path}); status != 405 {
			t.Errorf("POST %s: %d", path, status)
		}
	}
	for _, path := range []string{where + "/", where + "/x", "/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"} {
		if status, _, _ := s.Fetch(proxytest.HTTPRequest{Method: "GET", Path: path}); status != 404 {
			t.Errorf("%s: %d", path, status)
		}
	}
	s.HTTP = own
	if status, _, _ := s.Fetch(proxytest.HTTPRequest{Method: "GET", Path: where}); status != 404 {
		t.Errorf("with a token of the operator: %d", status)
	}
}

// TestPrincipals: E006, B032. A session belongs to its subject only, however often the token
// changes; without sessions a subject has one state.
func TestPrincipals(t *testing.T) {
	s := proxytest.Start(t, proxytest.Setup{Rules: "limit push to 1 per session\n"})
	i := jwtDoor(s)
	i.Add("ed")
	second := i.Sign("ec", jose.ES256, nil, i.Claims("ann", time.Now().Add(-time.Second)))
	session := s.OpenSession(i.Token("ann"))
	for _, subject := range []string{"bob", "ann ", "Ann", "token", "anonymous"} {
		if status, _, body := s.InSession(i.Token(subject), session, proxytest.PushRequest); status != 404 {
			t.Errorf("%s in the session of ann: %d %s", subject, status, body)
		}
	}
	s.Executed("push", 0)
	if status, _, body := s.InSession(second, session, proxytest.PushRequest); status != 200 || strings.Contains(body, `"isError":true`) {
		t.Errorf("another token of ann: %d %s", status, body)
	}
	if _, _, body := s.InSession(i.Token("ann"), session, proxytest.PushRequest); !strings.Contains(body, `"isError":true`) {
		t.Errorf("a new token is a new budget: %s", body)
	}
	s.Executed("push", 1)
	call := func(token string) string {
		p := s.ModernCallAs(token)
		p.Header.Set("Mcp-Name", "push")
		p.Body = strings.Replace(p.Body, `"name":"read"`, `"name":"push"`, 1)
		_, _, body := s.Fetch(p)
		return body
	}
	for _, token := range []string{i.Token("ann"), i.Token("bob")} {
		if body := call(token); strings.Contains(body, `"isError":true`) {
			t.Error(body)
		}
	}
	for _, token := range []string{second, i.Token("ann"), i.Token("bob")} {
		if body := call(token); !strings.Contains(body, `"isError":true`) {
			t.Error(body)
		}
	}
	s.Executed("push", 3)
}

// listen opens the GET stream of a session.
func listen(ctx context.Context, s *proxytest.Site, token, session string) io.ReadCloser {
	s.T.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.HTTP.URL+"/mcp", http.NoBody)
	if err != nil {
		s.T.Fatal(err)
	}
	r.Header = http.Header{"Authorization": {"Bearer " + token}, "Mcp-Session-Id": {session}, "Accept": {"text/event-stream"}, "Mcp-Protocol-Version": {"2025-11-25"}}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	var response *http.Response
	s.Eventually("the stream is open", func() bool { // the previous request may still be counted
		if response, err = client.Do(r); err != nil {
			s.T.Fatal(err)
		}
		if response.StatusCode != 200 {
			_ = response.Body.Close()
		}
		return response.StatusCode == 200
	})
	return response.Body
}

// TestStreamEndsWithToken: a notification stream ends when the token that opened it expires.
func TestStreamEndsWithToken(t *testing.T) {
	exp := time.Now().Truncate(time.Second)
	now := proxytest.ClockAt(exp.Add(30*time.Second - 20*time.Millisecond)) // valid for a moment within the leeway, which begins with the stream
	s := proxytest.Start(t, proxytest.Setup{Rules: "block danger\n", Change: func(o *proxy.Options) { o.Now = now.Now }})
	i := jwtDoor(s)
	session := s.OpenSession(i.Token("ann"))
	claims := i.Claims("ann", exp.Add(-time.Minute))
	claims["exp"] = exp.Unix()
	short := i.Sign("ec", jose.ES256, nil, claims)
	stream := listen(t.Context(), s, short, session)
	defer func() { _ = stream.Close() }()
	if _, err := io.ReadAll(stream); err != nil { // it ends
		t.Error(err)
	}
	now.Move(20 * time.Millisecond)
	if status, _, _ := s.InSession(short, session, proxytest.PushRequest); status != 401 {
		t.Errorf("the token is good after that: %d", status)
	}
}

// TestRawRequests: E002, A026. Requests that client libraries never send.
func TestRawRequests(t *testing.T) {
	s := proxytest.Start(t, proxytest.Setup{Rules: "block danger\n"})
	_, port, _ := net.SplitHostPort(s.HTTP.Listener.Addr().String())
	body := s.ModernCall().Body
	head := "Authorization: Bearer " + proxytest.Token + "\r\nContent-Type: application/json\r\nMcp-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: read\r\nConnection: close\r\n"
	length := fmt.Sprintf("Content-Length: %d\r\n", len(body))
	host := "Host: localhost:" + port + "\r\n"
	for name, c := range map[string]struct {
		request string
		want    int
	}{
		"good":              {"POST /mcp HTTP/1.1\r\n" + host + head + length + "\r\n" + body, 200},
		"upper case":        {"POST /mcp HTTP/1.1\r\nHost: LOCALHOST:" + port + "\r\n" + head + length + "\r\n" + body, 200},
		"no host":           {"POST /mcp HTTP/1.1\r\n" + head + length + "\r\n" + body, 400},
		"no host, HTTP/1.0": {"POST /mcp HTTP/1.0\r\n" + head + length + "\r\n" + body, 403},
		"empty host":        {"POST /mcp HTTP/1.1\r\nHost:\r\n" + head + length + "\r\n" + body, 403},
		"two hosts":         {"POST /mcp HTTP/1.1\r\n" + host + "Host: evil.example\r\n" + head + length + "\r\n" + body, 400},
		"absolute form":     {"POST http://evil.example/mcp HTTP/1.1\r\n" + host + head + length + "\r\n" + body, 403},
		"trailing dot":      {"POST /mcp HTTP/1.1\r\nHost: localhost.:" + port + "\r\n" + head + length + "\r\n" + body, 403},
		"no port":           {"POST /mcp HTTP/1.1\r\nHost: localhost\r\n" + head + length + "\r\n" + body, 403},
		"a longer port":     {"POST /mcp HTTP/1.1\r\nHost: localhost:0" + port + "\r\n" + head + length + "\r\n" + body, 403},
		"zone":              {"POST /mcp HTTP/1.1\r\nHost: [::1%25eth0]:" + port + "\r\n" + head + length + "\r\n" + body, 403},
		"mapped":            {"POST /mcp HTTP/1.1\r\nHost: [::ffff:127.0.0.1]:" + port + "\r\n" + head + length + "\r\n" + body, 200},
		"decimal":           {"POST /mcp HTTP/1.1\r\nHost: 2130706433:" + port + "\r\n" + head + length + "\r\n" + body, 403},
		"octal":             {"POST /mcp HTTP/1.1\r\nHost: 0177.0.0.1:" + port + "\r\n" + head + length + "\r\n" + body, 403},
		"nip.io":            {"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1.nip.io:" + port + "\r\n" + head + length + "\r\n" + body, 403},
		"all networks":      {"POST /mcp HTTP/1.1\r\nHost: 0.0.0.0:" + port + "\r\n" + head + length + "\r\n" + body, 403},
		"forwarded":         {"POST /mcp HTTP/1.1\r\nHost: evil.example\r\nX-Forwarded-Host: localhost:" + port + "\r\nForwarded: host=localhost:" + port + "\r\n" + head + length + "\r\n" + body, 403},
		"two lengths":       {"POST /mcp HTTP/1.1\r\n" + host + head + length + "Content-Length: 5\r\n\r\n" + body, 400},
		"folded":            {"POST /mcp HTTP/1.1\r\n" + host + head + length + "X: a\r\n b\r\n\r\n" + body, 200},
		"other encoding":    {"POST /mcp HTTP/1.1\r\n" + host + head + "Transfer-Encoding: gzip\r\n\r\n" + body, 501},
	} {
		before := s.Log.Executed("read")
		conn, err := net.Dial("tcp", s.HTTP.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(conn, c.request); err != nil {
			t.Fatal(err)
		}
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		answer, _ := io.ReadAll(response.Body)
		_ = response.Body.Close()
		_ = conn.Close()
		if response.StatusCode != c.want {
			t.Errorf("%s: %d %s, want %d", name, response.StatusCode, answer, c.want)
		}
		if executed := s.Log.Executed("read") - before; (executed == 1) != (c.want == 200) {
			t.Errorf("%s: executed %d times", name, executed)
		}
	}
}
