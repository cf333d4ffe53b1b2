package relay_test

import (
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// TestToolFilter: A035. Tools that the configuration withholds from clients are not listed and
// cannot be called: on no leg, in no session, and by none of their other names. Deny takes
// precedence over allow.
func TestToolFilter(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{Change: func(o *proxy.Options) {
			o.Upstreams[0].Tools = proxy.ToolFilter{Allow: []string{"rea*", "pus?", "safe", "danger"}, Deny: []string{"dang*", "nope*"}}
		}})
		c := s.Connect(l, "")
		if names := listed(c); !slices.Equal(names, []string{"safe", "push", "read"}) {
			t.Errorf("listed are %q", names)
		}
		c.Must("read", `{}`)
		for tool, why := range map[string]string{"danger": `tools.deny has "dang*"`, "backup": "tools.allow does not have it"} {
			if r := c.Refuses(tool, `{}`, "withheld"); !strings.Contains(r.Text(), why) {
				t.Errorf("%s: %s", tool, r.Text())
			}
		}
		for _, name := range []string{"up.backup", "up_backup", "Backup", "nope"} {
			c.CallUnknown(name)
		}
		s.Executed("", 1)
		want := []string{`up: tools.deny: "nope*" matches no tool`}
		if got := s.Proxy.Status().Warnings; !slices.Equal(got, want) {
			t.Errorf("warnings %q, want %q", got, want)
		}
	})
}

// TestToolFilterLater: a tool that the upstream adds later is filtered as well, and a withheld tool
// does not occupy the name of another.
func TestToolFilterLater(t *testing.T) {
	none := ""
	other := httptest.NewServer(testserver.New(testserver.Options{Tools: testserver.Attack()}))
	t.Cleanup(other.Close)
	t.Cleanup(other.CloseClientConnections)
	s := proxytest.Start(t, proxytest.Setup{Change: func(o *proxy.Options) {
		second := o.Upstreams[0]
		second.Name, second.URL, second.Prefix = "second", other.URL+"/mcp", &none
		second.Tools.Allow = []string{"read"}
		o.Upstreams[0].Prefix = &none
		o.Upstreams[0].Tools.Deny = []string{"read", "new_*"}
		o.Upstreams = append(o.Upstreams, second)
	}})
	c := s.Connect(proxytest.Legs()[0], "")
	c.Must("read", `{}`)
	s.Executed("read", 0)
	c.Must("safe", `{}`)
	s.Upstream.AddTool(testserver.Tool{Name: "new_tool"})
	s.Upstream.AddTool(testserver.Tool{Name: "sentinel"})
	s.Eventually("the list is new", func() bool { return slices.Contains(listed(c), "sentinel") })
	if slices.Contains(listed(c), "new_tool") {
		t.Error("new_tool is listed")
	}
	c.Refuses("new_tool", `{}`, "withheld")
}
