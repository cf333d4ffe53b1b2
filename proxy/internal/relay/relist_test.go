package relay_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// TestListIsAskedForAgain: an upstream that fails to list its tools and stays up is asked again,
// since it announces no change.
func TestListIsAskedForAgain(t *testing.T) {
	var failed atomic.Bool
	server := testserver.New(testserver.Options{Tools: testserver.Attack()})
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		if bytes.Contains(body, []byte(`"tools/list"`)) && !failed.Swap(true) {
			panic(http.ErrAbortHandler)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		server.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	s := proxytest.Start(t, proxytest.Setup{Change: func(o *proxy.Options) { o.Upstreams[0].URL = front.URL + "/mcp" }})
	c := s.Connect(proxytest.Legs()[0], "")
	if r := c.Do("safe", `{}`); s.Proxy.Status().Tools == 0 && !strings.Contains(string(r.Raw), "not listed yet: up") {
		t.Errorf("%s", r.Raw)
	}
	s.Eventually("the tools are listed", func() bool { return s.Proxy.Status().Tools > 0 })
	c.Must("safe", `{}`)
	if !failed.Load() {
		t.Error("nothing has failed")
	}
}
