package proxy_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/proxy"
)

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

// TestEndpoint: the endpoint is where it was asked for and nowhere else, and
// clients leave out the port that is usual for how it speaks.
func TestEndpoint(t *testing.T) {
	s := start(t, setup{change: func(o *proxy.Options) { o.MaxRequest = 1 << 10 }})
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
		h, err := s.proxy.Handler(c.access)
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
		if closed, out := w.Header().Get("Connection") == "close", c.want == 403 || c.want == 404; closed != out {
			t.Errorf("%s: the connection is closed: %v", c.name, closed)
		}
	}
	if _, err := s.proxy.Handler(proxy.Access{Addr: "127.0.0.1:7", Open: true, Path: "mcp"}); err == nil {
		t.Error("a path without a slash is taken")
	}
}
