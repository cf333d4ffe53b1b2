package relay_test

import (
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// TestWithoutDiscovery: a client of 2026-07-28 sends its capabilities with each request. It sees
// and calls the tools that a server of 2025-11-25 has for them, even without a server/discover.
func TestWithoutDiscovery(t *testing.T) {
	tools := []testserver.Tool{proxytest.PlainTool("plain"), proxytest.PlainTool("picture")}
	tools[1].Needs = "sampling"
	began := map[string]func(t *testing.T, c *proxytest.Client){
		"with the list": func(t *testing.T, c *proxytest.Client) {
			if r := c.Request("tools/list", `"x":1`); !strings.Contains(string(r.Result), `"picture"`) || !strings.Contains(string(r.Result), `"plain"`) {
				t.Errorf("%s", r.Raw)
			}
			c.Must("picture", `{}`)
		},
		"with a call": func(_ *testing.T, c *proxytest.Client) { c.Must("picture", `{}`) },
	}
	for name, begin := range began {
		t.Run(name, func(t *testing.T) {
			proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
				for _, isolation := range []string{proxy.IsolateShared, proxy.IsolateSession} {
					s := proxytest.Start(t, proxytest.Setup{Rules: "limit plain to 1000 per session\n", Server: testserver.Options{Tools: tools, Revisions: testserver.Legacy}, Change: func(o *proxy.Options) {
						o.Upstreams[0].Isolation = isolation
					}})
					if c := s.Connect(l, ""); strings.Contains(string(c.Request("tools/list", `"x":1`).Result), `"picture"`) {
						t.Error("a client that cannot sample is shown what needs it")
					}
					begin(t, s.Connect(l, `{"sampling":{}}`))
				}
			})
		})
	}
}
