package proxy_test

import (
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// TestWithoutDiscovery: a client of 2026-07-28 sends its capabilities with each request. It sees
// and calls the tools that a server of 2025-11-25 has for them, even without a server/discover.
func TestWithoutDiscovery(t *testing.T) {
	tools := []testserver.Tool{plainTool("plain"), plainTool("picture")}
	tools[1].Needs = "sampling"
	began := map[string]func(t *testing.T, c *client){
		"with the list": func(t *testing.T, c *client) {
			if r := c.request("tools/list", `"x":1`); !strings.Contains(string(r.result), `"picture"`) || !strings.Contains(string(r.result), `"plain"`) {
				t.Errorf("%s", r.raw)
			}
			c.must("picture", `{}`)
		},
		"with a call": func(_ *testing.T, c *client) { c.must("picture", `{}`) },
	}
	for name, begin := range began {
		t.Run(name, func(t *testing.T) {
			eachLeg(t, func(t *testing.T, l leg) {
				for _, isolation := range []string{proxy.IsolateShared, proxy.IsolateSession} {
					s := start(t, setup{rules: "limit plain to 1000 per session\n", server: testserver.Options{Tools: tools, Eras: testserver.Legacy}, change: func(o *proxy.Options) {
						o.Upstreams[0].Isolation = isolation
					}})
					if c := s.connect(l, ""); strings.Contains(string(c.request("tools/list", `"x":1`).result), `"picture"`) {
						t.Error("a client that cannot sample is shown what needs it")
					}
					begin(t, s.connect(l, `{"sampling":{}}`))
				}
			})
		})
	}
}
