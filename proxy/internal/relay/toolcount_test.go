package relay_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// TestToolCount: the warning about too many tools for clients counts only listed tools.
func TestToolCount(t *testing.T) {
	for n, want := range map[int]string{40: "", 41: "more than 40 ", 100: "more than 40 ", 101: "more than 100 ", 128: "more than 100 ", 129: "more than 128 "} {
		var tools []testserver.Tool
		for i := range n + 10 {
			name := "tool"
			if i < 10 {
				name = "withheld"
			}
			tools = append(tools, testserver.Tool{Name: fmt.Sprintf("%s_%d", name, i)})
		}
		s := proxytest.Start(t, proxytest.Setup{Server: testserver.Options{Tools: tools}, Change: func(o *proxy.Options) { o.Upstreams[0].Tools.Deny = []string{"withheld_*"} }})
		got := s.Proxy.Status().Warnings
		if want == "" && len(got) != 0 || want != "" && (len(got) != 1 || !strings.HasPrefix(got[0], want)) {
			t.Errorf("%d tools: %q, want %q", n, got, want)
		}
	}
}
