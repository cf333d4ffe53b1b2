package front_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// TestTurnedAway: a call that the upstream's own guard refuses did not run, so a token that it
// holds is returned.
func TestTurnedAway(t *testing.T) {
	var closed atomic.Bool
	server := testserver.New(testserver.Options{Tools: testserver.Attack()})
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if closed.Load() {
			http.Error(w, "no more", http.StatusForbidden)
			return
		}
		server.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	s := proxytest.Start(t, proxytest.Setup{Policy: proxytest.ChainPolicy(t, "push"), Change: func(o *proxy.Options) { o.Upstreams[0].URL = front.URL + "/mcp" }})
	c := s.Connect(proxytest.Legs()[0], "")
	closed.Store(true)
	if r := c.Do("push", `{}`); !r.IsError() || !strings.Contains(string(r.Raw), "did not run") {
		t.Errorf("%s", r.Raw)
	}
	closed.Store(false)
	c.Must("push", `{}`)
}
