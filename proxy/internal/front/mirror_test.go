package front_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/proxytest"
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
	s := proxytest.Start(t, proxytest.Setup{Server: testserver.Options{Tools: append(testserver.Attack(), regional)}})
	p := s.ModernCall()
	p.Header.Set("Mcp-Name", "regional")
	p.Body = strings.Replace(p.Body, `"name":"read"`, `"name":"regional","arguments":{"region":"eu"}`, 1)
	for _, c := range []struct {
		region string
		status int
	}{{"us", 400}, {"", 400}, {"eu", 200}} {
		p.Header.Del("Mcp-Param-Region")
		if c.region != "" {
			p.Header.Set("Mcp-Param-Region", c.region)
		}
		if status, _, body := s.Fetch(p); status != c.status || status == 400 && !strings.Contains(body, "-32020") {
			t.Errorf("region %q: status %d: %s", c.region, status, body)
		}
	}
	s.Executed("regional", 1)
}
