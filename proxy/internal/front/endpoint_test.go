package front_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/proxy"
)

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

// TestEndpoint: the endpoint has the configured path and no other, and clients can omit the default
// port of the scheme.
func TestEndpoint(t *testing.T) {
	s := proxytest.Start(t, proxytest.Setup{Change: func(o *proxy.Options) { o.MaxRequest = 1 << 10 }})
	cases := []struct {
		name       string
		access     proxy.Access
		path, host string
		body       string
		want       int
	}{
		{"its own path", proxy.Access{Path: "/agents/one"}, "/agents/one", "localhost:7", hello, 200},
		{"the usual path", proxy.Access{Path: "/agents/one"}, "/mcp", "localhost:7", hello, 404},
		{"a path below", proxy.Access{Path: "/agents"}, "/agents/one", "localhost:7", hello, 404},
		{"the usual path where none is said", proxy.Access{}, "/mcp", "localhost:7", hello, 200},
		{"no port of HTTP", proxy.Access{Addr: "127.0.0.1:80"}, "/mcp", "localhost", hello, 200},
		{"no port, and it is another", proxy.Access{Addr: "127.0.0.1:443"}, "/mcp", "localhost", hello, 403},
		{"no port of HTTPS", proxy.Access{Addr: "127.0.0.1:443", TLS: true}, "/mcp", "localhost", hello, 200},
		{"the port of HTTP for HTTPS", proxy.Access{Addr: "127.0.0.1:80", TLS: true}, "/mcp", "localhost", hello, 403},
		{"as large as it may be", proxy.Access{}, "/mcp", "localhost:7", hello + strings.Repeat(" ", 1<<10-len(hello)), 200},
		{"larger", proxy.Access{}, "/mcp", "localhost:7", hello + strings.Repeat(" ", 1<<10+1-len(hello)), 413},
	}
	for _, c := range cases {
		if c.access.Addr == "" {
			c.access.Addr = "127.0.0.1:7"
		}
		c.access.Open = true
		h, err := s.Proxy.Handler(c.access)
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest(http.MethodPost, "http://"+c.host+c.path, strings.NewReader(c.body))
		r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != c.want {
			t.Errorf("%s: status %d, want %d: %s", c.name, w.Code, c.want, w.Body)
		}
		if closed := w.Header().Get("Connection") == "close"; closed != (c.want >= 400) {
			t.Errorf("%s: the connection is closed: %v", c.name, closed)
		}
	}
	if _, err := s.Proxy.Handler(proxy.Access{Addr: "127.0.0.1:7", Open: true, Path: "mcp"}); err == nil {
		t.Error("a path without a slash is taken")
	}
}

// TestIdleBodyIsDisconnected: E010. A client that announces a message and does not send all of it
// is answered and disconnected.
func TestIdleBodyIsDisconnected(t *testing.T) {
	t.Parallel()
	s := proxytest.Start(t, proxytest.Setup{})
	s.ServeWith(proxy.Access{Open: true, BodyTimeout: time.Millisecond})
	for name, body := range map[string]string{
		"nothing":         "Content-Length: 100\r\n\r\n",
		"half":            "Content-Length: 100\r\n\r\n{\"jsonrpc\"",
		"half of a large": "Content-Length: 100000\r\n\r\n{\"jsonrpc\"",
		"half a chunk":    "Transfer-Encoding: chunked\r\n\r\n20\r\n{\"jsonrpc\"",
		"no last chunk":   "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n",
		"too large":       "Content-Length: 100000000\r\n\r\n",
		"of another type": "Content-Encoding: gzip\r\nContent-Length: 100\r\n\r\n",
	} {
		c, err := net.Dial("tcp", s.HTTP.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		_ = c.SetDeadline(time.Now().Add(proxytest.Patience)) // a connection that is kept fails the test below
		_, _ = io.WriteString(c, "POST /mcp HTTP/1.1\r\nHost: localhost:"+port(s)+"\r\nContent-Type: application/json\r\n"+body)
		answer, err := io.ReadAll(c)
		if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 4") {
			t.Errorf("%s: %q, %v", name, answer, err)
		}
	}
}

func port(s *proxytest.Site) string {
	_, port, _ := strings.Cut(s.HTTP.Listener.Addr().String(), ":")
	return port
}
