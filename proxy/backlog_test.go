package proxy_test

import (
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// TestBacklog: calls whose arguments must be kept, since their upstream might need them again, are
// limited in size; a call that ends in any way makes room.
func TestBacklog(t *testing.T) {
	legacyLegs(t, func(t *testing.T, l leg) {
		s := start(t, setup{rules: "limit slow to 64 per session\n", server: testserver.Options{Eras: testserver.Modern}, change: func(o *proxy.Options) { o.MaxRequest = 16 << 10 }})
		c := s.connect(l, "")
		large := `{"x":"` + strings.Repeat("x", 12<<10) + `"}`
		const room = 16 * 16 / (12 + 4 + 1) // including the fixed cost of a call
		for round := 1; round <= 2; round++ {
			var ids []string
			for range room {
				ids = append(ids, c.call("slow", large))
			}
			s.awaitExecuted("slow", round*room)
			if r := c.refuses("slow", large, "busy"); !strings.Contains(r.text(), "Your calls that wait are too large together") {
				t.Errorf("%s", r.raw)
			}
			c.cancel(ids[0])
			s.eventually("there is room", func() bool { return !c.do("safe", large).isError() })
			s.upstream.Release()
			for _, id := range ids[1:] {
				if r := c.reply(id); r.isError() {
					t.Errorf("%s", r.raw)
				}
			}
		}
	})
}
