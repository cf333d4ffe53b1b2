package session_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/proxytest"
)

// TestLongIntroductions: a client's description of itself is kept for long, so its length is
// limited.
func TestLongIntroductions(t *testing.T) {
	long := strings.Repeat("x", 64<<10)
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{Rules: "block danger\n"})
		c := s.Connect(l, "")
		for i, c2 := range []struct{ info, capabilities, code string }{
			{`{"name":"` + long + `","version":"1"}`, `{}`, "-32602"},
			{`{"name":"` + long[:60<<10] + `","version":"1"}`, `{}`, ""},
			{`{"name":"x","version":"1"}`, `{"experimental":{"x":{"y":"` + long[:16<<10] + `"}}}`, "-32602"},
			{`{"name":"x","version":"1"}`, `{"experimental":{"x":{"y":"` + long[:15<<10] + `"}}}`, ""},
		} {
			id := strconv.Itoa(1000 + i)
			method, params := "initialize", `{"protocolVersion":"2025-11-25","clientInfo":`+c2.info+`,"capabilities":`+c2.capabilities+`}`
			if l.Modern {
				method = "tools/list"
				params = `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":` + c2.info +
					`,"io.modelcontextprotocol/clientCapabilities":` + c2.capabilities + `}}`
			} else if l.HTTP {
				c = s.UnconnectedClient(l)
			}
			c.Send([]byte(`{"jsonrpc":"2.0","id":`+id+`,"method":"`+method+`","params":`+params+`}`), nil)
			if r := c.Reply(id); r.Code() != c2.code || c2.code != "" && !strings.Contains(string(r.Raw), "is longer than") {
				t.Errorf("%d: %.300s", i, r.Raw)
			}
		}
	})
}
