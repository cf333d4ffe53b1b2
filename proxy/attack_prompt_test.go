package proxy_test

import (
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/testserver"
)

// TestPromptsOfOtherSpellings: A030, A031, A035. If a rule names a prompt, only listed names are
// prompts, even if the server would accept others.
func TestPromptsOfOtherSpellings(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, setup{policy: blocking(t, "prompt:up.secret"), server: testserver.Options{Capabilities: whole, Methods: map[string]testserver.Method{
			"prompts/list": says(`{"prompts":[{"name":"open.one"},{"name":"se cret"},{"name":"secret"}],"x":1.0}`),
			"prompts/get":  says(`{"messages":[]}`),
		}}})
		c := s.connect(l, "")
		for _, name := range []string{"Secret", "SECRET", "secret ", " secret", "secr\u200bet", "s\u0435cret", "secret.", "up.secret", "up_secret", "prompt:up.secret", "./secret", "hidden"} {
			if r := c.request("prompts/get", `"name":"`+name+`"`); r.code() != codeParams {
				t.Errorf("%q: %s", name, r.raw)
			}
		}
		if r := c.request("prompts/get", `"name":"secret"`); r.code() != codeRequest {
			t.Errorf("%s", r.raw)
		}
		if got := s.received("prompts/get"); got != "" {
			t.Errorf("relayed: %s", got)
		}
		for _, name := range []string{"open.one", "se cret"} {
			if r := c.request("prompts/get", `"name":"`+name+`"`); r.result == nil {
				t.Errorf("%s", r.raw)
			}
		}
		if r := c.request("prompts/list", `"y":1`); !strings.Contains(string(r.result), `"x":1.0`) || !strings.Contains(string(r.result), `"open.one"`) {
			t.Errorf("the list was changed: %s", r.raw)
		}
	})
}
