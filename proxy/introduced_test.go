package proxy_test

import (
	"strconv"
	"strings"
	"testing"
)

// TestLongIntroductions: a client's description of itself is kept for long, so its length is
// limited.
func TestLongIntroductions(t *testing.T) {
	long := strings.Repeat("x", 64<<10)
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, setup{rules: "block danger\n"})
		c := s.connect(l, "")
		for i, c2 := range []struct{ info, capabilities, code string }{
			{`{"name":"` + long + `","version":"1"}`, `{}`, "-32602"},
			{`{"name":"` + long[:60<<10] + `","version":"1"}`, `{}`, ""},
			{`{"name":"x","version":"1"}`, `{"experimental":{"x":{"y":"` + long[:16<<10] + `"}}}`, "-32602"},
			{`{"name":"x","version":"1"}`, `{"experimental":{"x":{"y":"` + long[:15<<10] + `"}}}`, ""},
		} {
			id := strconv.Itoa(1000 + i)
			method, params := "initialize", `{"protocolVersion":"2025-11-25","clientInfo":`+c2.info+`,"capabilities":`+c2.capabilities+`}`
			if l.modern {
				method = "tools/list"
				params = `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":` + c2.info +
					`,"io.modelcontextprotocol/clientCapabilities":` + c2.capabilities + `}}`
			} else if l.http {
				c = s.unconnected(l)
			}
			c.send([]byte(`{"jsonrpc":"2.0","id":`+id+`,"method":"`+method+`","params":`+params+`}`), nil)
			if r := c.reply(id); r.code() != c2.code || c2.code != "" && !strings.Contains(string(r.raw), "is longer than") {
				t.Errorf("%d: %.300s", i, r.raw)
			}
		}
	})
}
