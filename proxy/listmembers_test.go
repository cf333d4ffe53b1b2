package proxy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// TestListMembersOfOne: the list members of the only upstream are all kept, except for those of a
// page, and those that could be taken for the tools.
func TestListMembersOfOne(t *testing.T) {
	const kept = `"x":{"n":1.0 },"\u0079":[ -0 ]`
	eachEra(t, func(t *testing.T, l leg, era testserver.Eras) {
		around, meta := kept+`,"Tools":[{"name":"danger"}],"tool\u017f":[],"_Meta":{},"TTLMS":9`, strange
		if era == testserver.Legacy {
			around += `,"_meta":` + meta
		} else {
			meta = `{"io.modelcontextprotocol/serverInfo":{"name":"fixture","version":"1.0.0"}}`
		}
		for _, prefix := range []string{"", "p"} {
			s := start(t, setup{
				server: testserver.Options{Eras: era, Tools: testserver.Attack(), Around: around, PageSize: 5},
				change: func(o *proxy.Options) { o.Upstreams[0].Prefix = &prefix },
			})
			r := s.connect(l, "").list()
			_, got, _ := strings.Cut(string(r.result), `],"x"`)
			want := `:{"n":1.0 },"y":[ -0 ],"_meta":` + strings.Replace(meta, `k\u00e9y`, "kéy", 1)
			if l.modern {
				want += `,"resultType":"complete","ttlMs":0,"cacheScope":"private"`
			}
			differ(t, "list", got, want+"}")
		}
	})
}

// TestListMembersOfSeveral: with several upstreams, members with equal values are kept.
func TestListMembersOfSeveral(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, setup{policy: netPolicy(t), change: func(o *proxy.Options) {
			o.Upstreams = nil
			for _, name := range []string{"a", "b"} {
				around := fmt.Sprintf(`"of-%s":1.0,"same":{"n":-0},"other":"%s","mixed":1,"_meta":{"m/%s":1E2,"m/same":[],"m/other":"%s","io.modelcontextprotocol/serverInfo":{"name":"%s"}}`, name, name, name, name, name)
				o.Upstreams = append(o.Upstreams, described(t, name, around))
			}
		}})
		c := s.connect(l, "")
		const want = `],"of-a":1.0,"same":{"n":-0},"mixed":1,"_meta":{"m/a":1E2,"m/same":[],"m/b":1E2},"of-b":1.0`
		if r := c.list(); !strings.Contains(string(r.result), want) {
			t.Errorf("%s", r.raw)
		}
		for _, method := range []string{"prompts/list", "resources/list", "resources/templates/list"} {
			if r := c.request(method, `"y":1`); !strings.Contains(string(r.result), want) {
				t.Errorf("%s", r.raw)
			}
		}
	})
}

// described is an upstream whose lists all have these members.
func described(t *testing.T, name, around string) proxy.Upstream {
	return serving(t, name, testserver.Options{Eras: testserver.Legacy, Capabilities: whole, Around: around, Methods: map[string]testserver.Method{
		"prompts/list":             says(`{"prompts":[],` + around + `}`),
		"resources/list":           says(`{"resources":[],` + around + `}`),
		"resources/templates/list": says(`{"resourceTemplates":[],` + around + `}`),
	}})
}

// TestIntroduction: the only upstream is introduced with its own description; several are not
// introduced with any of theirs.
func TestIntroduction(t *testing.T) {
	const info = `{"title":"T\u00eftle","name":"n","version":"1.0","websiteUrl":"https:\/\/x","icons":[{"src":"data:,<>&","sizes":["any"]}],"x":-0}`
	eachEra(t, func(t *testing.T, l leg, era testserver.Eras) {
		introduction := `"x":{"n":1.0},"Capabilities":{"tasks":{}},"ServerInfo":{}`
		if era == testserver.Legacy { // the newer family has its _meta there
			introduction += `,"_meta":` + strange
		}
		o := testserver.Options{Eras: era, Info: info, Instructions: "Be \"nice\".\n<&>\u2028", Introduction: introduction}
		for _, alone := range []bool{true, false} {
			s := start(t, setup{policy: netPolicy(t), server: o, change: func(po *proxy.Options) {
				if !alone {
					po.Upstreams = append(po.Upstreams, serving(t, "other", o))
				}
			}})
			r := s.greeted(l)
			got := at(r.result, "serverInfo")
			if l.modern {
				got = at(r.result, "_meta", "io.modelcontextprotocol/serverInfo")
			}
			if (got == info) != alone {
				t.Errorf("serverInfo %s", got)
			}
			if (at(r.result, "x") == `{"n":1.0}`) != alone || strings.Contains(string(r.result), `"Capabilities"`) || strings.Contains(string(r.result), `"ServerInfo"`) {
				t.Errorf("%s", r.raw)
			}
			if has := at(r.result, "_meta", "a/b") == "1.50"; has != (alone && era == testserver.Legacy) {
				t.Errorf("%s", r.raw)
			}
			if !strings.Contains(string(r.result), `Be \"nice\".\n<&>`) {
				t.Errorf("%s", r.raw)
			}
		}
	})
}

// greeted returns the answer to the first message of a client.
func (s *site) greeted(l leg) message {
	s.t.Helper()
	if l.modern {
		return s.connect(l, "").request("server/discover", `"x":1`)
	}
	c := s.unconnected(l)
	return c.reply(c.sendf(`{"jsonrpc":"2.0","id":%ID%,"method":"initialize","params":{"protocolVersion":"` + c.version + `","capabilities":{},"clientInfo":` + c.info() + `}}`))
}
