package proxy_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/testserver"
)

// TestMirroredArguments: an argument that a tool requires in a header is there with the same value,
// or the call is not made.
func TestMirroredArguments(t *testing.T) {
	regional := testserver.Tool{
		Name:        "regional",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}`),
		Run: func(context.Context, *testserver.Call) (json.RawMessage, error) {
			return json.RawMessage(`{"content":[]}`), nil
		},
	}
	s := start(t, setup{server: testserver.Options{Tools: append(testserver.Attack(), regional)}})
	p := s.modernCall()
	p.header.Set("Mcp-Name", "regional")
	p.body = strings.Replace(p.body, `"name":"read"`, `"name":"regional","arguments":{"region":"eu"}`, 1)
	for _, c := range []struct {
		region string
		status int
	}{{"us", 400}, {"", 400}, {"eu", 200}} {
		p.header.Del("Mcp-Param-Region")
		if c.region != "" {
			p.header.Set("Mcp-Param-Region", c.region)
		}
		if status, _, body := s.fetch(p); status != c.status || status == 400 && !strings.Contains(body, "-32020") {
			t.Errorf("region %q: status %d: %s", c.region, status, body)
		}
	}
	s.executed("regional", 1)
}
