package pipeline_test

import (
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// TestBacklog: calls whose arguments must be kept, since their upstream might need them again, are
// limited in size; a call that ends in any way makes room.
func TestBacklog(t *testing.T) {
	proxytest.LegacyLegs(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{Rules: "limit slow to 64 per session\n", Server: testserver.Options{Revisions: testserver.Modern}, Change: func(o *proxy.Options) { o.MaxRequest = 16 << 10 }})
		c := s.Connect(l, "")
		large := `{"x":"` + strings.Repeat("x", 12<<10) + `"}`
		const room = 16 * 16 / (12 + 4 + 1) // including the fixed cost of a call
		for round := 1; round <= 2; round++ {
			var ids []string
			for range room {
				ids = append(ids, c.Call("slow", large))
			}
			s.AwaitExecuted("slow", round*room)
			if r := c.Refuses("slow", large, "busy"); !strings.Contains(r.Text(), "Your waiting calls are too large in total") {
				t.Errorf("%s", r.Raw)
			}
			c.Cancel(ids[0])
			s.Eventually("there is room", func() bool { return !c.Do("safe", large).IsError() })
			s.Upstream.Release()
			for _, id := range ids[1:] {
				if r := c.Reply(id); r.IsError() {
					t.Errorf("%s", r.Raw)
				}
			}
		}
	})
}
