package relay_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// TestListMembersOfOne: the list members of the only upstream are all kept, except for those of a
// page, and those that could be taken for the tools.
func TestListMembersOfOne(t *testing.T) {
	const kept = `"x":{"n":1.0 },"\u0079":[ -0 ]`
	proxytest.EachEra(t, func(t *testing.T, l proxytest.Leg, era testserver.Revisions) {
		around, meta := kept+`,"Tools":[{"name":"danger"}],"tool\u017f":[],"_Meta":{},"TTLMS":9`, proxytest.UnusualMeta
		if era == testserver.Legacy {
			around += `,"_meta":` + meta
		} else {
			meta = `{"io.modelcontextprotocol/serverInfo":{"name":"fixture","version":"1.0.0"}}`
		}
		for _, prefix := range []string{"", "p"} {
			s := proxytest.Start(t, proxytest.Setup{
				Server: testserver.Options{Revisions: era, Tools: testserver.Attack(), Around: around, PageSize: 5},
				Change: func(o *proxy.Options) { o.Upstreams[0].Prefix = &prefix },
			})
			r := s.Connect(l, "").List()
			_, got, _ := strings.Cut(string(r.Result), `],"x"`)
			want := `:{"n":1.0 },"y":[ -0 ],"_meta":` + strings.Replace(meta, `k\u00e9y`, "kéy", 1)
			if l.Modern {
				want += `,"resultType":"complete","ttlMs":0,"cacheScope":"private"`
			}
			proxytest.CompareText(t, "list", got, want+"}")
		}
	})
}

// TestListMembersOfSeveral: with several upstreams, members with equal values are kept.
func TestListMembersOfSeveral(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{Policy: proxytest.NetPolicy(t), Change: func(o *proxy.Options) {
			o.Upstreams = nil
			for _, name := range []string{"a", "b"} {
				around := fmt.Sprintf(`"of-%s":1.0,"same":{"n":-0},"other":"%s","mixed":1,"_meta":{"m/%s":1E2,"m/same":[],"m/other":"%s","io.modelcontextprotocol/serverInfo":{"name":"%s"}}`, name, name, name, name, name)
				o.Upstreams = append(o.Upstreams, described(t, name, around))
			}
		}})
		c := s.Connect(l, "")
		const want = `],"of-a":1.0,"same":{"n":-0},"mixed":1,"_meta":{"m/a":1E2,"m/same":[],"m/b":1E2},"of-b":1.0`
		if r := c.List(); !strings.Contains(string(r.Result), want) {
			t.Errorf("%s", r.Raw)
		}
		for _, method := range []string{"prompts/list", "resources/list", "resources/templates/list"} {
			if r := c.Request(method, `"y":1`); !strings.Contains(string(r.Result), want) {
				t.Errorf("%s", r.Raw)
			}
		}
	})
}

// described is an upstream whose lists all have these members.
func described(t *testing.T, name, around string) proxy.Upstream {
	return proxytest.ServeUpstream(t, name, testserver.Options{Revisions: testserver.Legacy, Capabilities: proxytest.AllCapabilities, Around: around, Methods: map[string]testserver.Method{
		"prompts/list":             proxytest.ConstantMethod(`{"prompts":[],` + around + `}`),
		"resources/list":           proxytest.ConstantMethod(`{"resources":[],` + around + `}`),
		"resources/templates/list": proxytest.ConstantMethod(`{"resourceTemplates":[],` + around + `}`),
	}})
}

// TestIntroduction: the only upstream is introduced with its own description; several are not
// introduced with any of theirs.
func TestIntroduction(t *testing.T) {
	const info = `{"title":"T\u00eftle","name":"n","version":"1.0","websiteUrl":"https:\/\/x","icons":[{"src":"data:,<>&","sizes":["any"]}],"x":-0}`
	proxytest.EachEra(t, func(t *testing.T, l proxytest.Leg, era testserver.Revisions) {
		introduction := `"x":{"n":1.0},"Capabilities":{"tasks":{}},"ServerInfo":{}`
		if era == testserver.Legacy { // the newer family has its _meta there
			introduction += `,"_meta":` + proxytest.UnusualMeta
		}
		o := testserver.Options{Revisions: era, Info: info, Instructions: "Be \"nice\".\n<&>\u2028", Introduction: introduction}
		for _, alone := range []bool{true, false} {
			s := proxytest.Start(t, proxytest.Setup{Policy: proxytest.NetPolicy(t), Server: o, Change: func(po *proxy.Options) {
				if !alone {
					po.Upstreams = append(po.Upstreams, proxytest.ServeUpstream(t, "other", o))
				}
			}})
			r := greeted(s, l)
			got := proxytest.Member(r.Result, "serverInfo")
			if l.Modern {
				got = proxytest.Member(r.Result, "_meta", "io.modelcontextprotocol/serverInfo")
			}
			if (got == info) != alone {
				t.Errorf("serverInfo %s", got)
			}
			if (proxytest.Member(r.Result, "x") == `{"n":1.0}`) != alone || strings.Contains(string(r.Result), `"Capabilities"`) || strings.Contains(string(r.Result), `"ServerInfo"`) {
				t.Errorf("%s", r.Raw)
			}
			if has := proxytest.Member(r.Result, "_meta", "a/b") == "1.50"; has != (alone && era == testserver.Legacy) {
				t.Errorf("%s", r.Raw)
			}
			if !strings.Contains(string(r.Result), `Be \"nice\".\n<&>`) {
				t.Errorf("%s", r.Raw)
			}
		}
	})
}

// greeted returns the answer to the first message of a client.
func greeted(s *proxytest.Site, l proxytest.Leg) proxytest.Message {
	s.T.Helper()
	if l.Modern {
		return s.Connect(l, "").Request("server/discover", `"x":1`)
	}
	c := s.UnconnectedClient(l)
	return c.Reply(c.Sendf(`{"jsonrpc":"2.0","id":%ID%,"method":"initialize","params":{"protocolVersion":"` + c.Version + `","capabilities":{},"clientInfo":` + c.Info() + `}}`))
}
