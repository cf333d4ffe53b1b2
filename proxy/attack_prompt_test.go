package proxy_test

import (
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/internal/testserver"
)

// TestPromptsOfOtherSpellings: A030, A031, A035. If a rule names a prompt, only listed names are
// prompts, even if the server would accept others.
func TestPromptsOfOtherSpellings(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{Policy: proxytest.BlockingPolicy(t, "prompt:up.secret"), Server: testserver.Options{Capabilities: proxytest.AllCapabilities, Methods: map[string]testserver.Method{
			"prompts/list": proxytest.ConstantMethod(`{"prompts":[{"name":"open.one"},{"name":"se cret"},{"name":"secret"}],"x":1.0}`),
			"prompts/get":  proxytest.ConstantMethod(`{"messages":[]}`),
		}}})
		c := s.Connect(l, "")
		for _, name := range []string{"Secret", "SECRET", "secret ", " secret", "secr\u200bet", "s\u0435cret", "secret.", "up.secret", "up_secret", "prompt:up.secret", "./secret", "hidden"} {
			if r := c.Request("prompts/get", `"name":"`+name+`"`); r.Code() != proxytest.CodeParams {
				t.Errorf("%q: %s", name, r.Raw)
			}
		}
		if r := c.Request("prompts/get", `"name":"secret"`); r.Code() != proxytest.CodeRequest {
			t.Errorf("%s", r.Raw)
		}
		if got := s.LastReceived("prompts/get"); got != "" {
			t.Errorf("relayed: %s", got)
		}
		for _, name := range []string{"open.one", "se cret"} {
			if r := c.Request("prompts/get", `"name":"`+name+`"`); r.Result == nil {
				t.Errorf("%s", r.Raw)
			}
		}
		if r := c.Request("prompts/list", `"y":1`); !strings.Contains(string(r.Result), `"x":1.0`) || !strings.Contains(string(r.Result), `"open.one"`) {
			t.Errorf("the list was changed: %s", r.Raw)
		}
	})
}
