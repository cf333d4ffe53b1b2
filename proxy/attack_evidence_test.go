package proxy_test

import (
	"testing"
	"time"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/internal/testserver"
	"github.com/petrigate/petrigate/proxy"
)

// TestBorrowedNames: A037, A042. A tool is not evidence under a name that another tool has too:
// neither through the names of a second server's tools, nor through an action that reads like a
// tool name. Restrictions apply to both.
func TestBorrowedNames(t *testing.T) {
	cases := []struct {
		name, rules        string
		tool, args, locked string
	}{
		{"the canonical name of another server's", "require x.backup before x.delete\n", "y.x.backup", `{}`, "x_delete"},
		{"the exposed name of another server's", "require x_backup before x_delete\n", "y.x_backup", `{}`, "x_delete"},
		{"the bare name of another server's", "require backup before delete\n", "y.backup", `{}`, "x_delete"},
		{"an action like the tool of a server", "require x.backup before x.delete\n", "y.x", `{"action":"backup"}`, "x_delete"},
		{"an action like the tool of its own server", "require y.backup before y.delete\n", "y.y", `{"action":"backup"}`, "y_delete"},
		{"an action like the tool of a server, in a list", "require x.backup before x.delete\n", "y.x", `{"action":["backup"]}`, "x_delete"},
		{"an action like a name with a dot", "require z.backup before delete\n", "y.z", `{"action":"backup"}`, "y_delete"},
	}
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
				var logs [2]testserver.Log
				tools := func(names ...string) (list []testserver.Tool) {
					for _, name := range names {
						list = append(list, testserver.Tool{Name: name})
					}
					return list
				}
				s := proxytest.Start(t, proxytest.Setup{Rules: tt.rules, Change: func(o *proxy.Options) {
					o.Upstreams = []proxy.Upstream{
						proxytest.ServeTools(t, "x", &logs[0], tools("backup", "delete")...),
						proxytest.ServeTools(t, "y", &logs[1], tools("x.backup", "x_backup", "backup", "delete", "x", "y", "z", "z.backup")...),
					}
				}})
				c := s.Connect(l, "")
				c.Must(proxytest.ExposedName(t, s, tt.tool), tt.args)
				c.CallBlocked(tt.locked)
				if n := logs[0].Executed("delete") + logs[1].Executed("delete"); n != 0 {
					t.Error("executed")
				}
			})
		})
	}
}

// TestBareNamesRestrictOnly: A037. With several servers the bare name of a tool exempts nothing and
// admits nothing, whichever of them lists it, and neither does a name that reads like one of
// another server. A name that identifies the server does.
func TestBareNamesRestrictOnly(t *testing.T) {
	nothing := ""
	cases := []struct {
		name, rules     string
		deny            bool
		passes, refused []string
	}{
		{"bare exemption", "require human-approval before * unless read\n", false, nil, []string{"evil_read", "files_read"}},
		{"pattern of bare names", "require human-approval before * unless rea*\n", false, nil, []string{"evil_read", "files_read"}},
		{"exemption of one server", "require human-approval before * unless files.read\n", false, []string{"files_read"}, []string{"evil_read"}},
		{"bare limit", "limit read to 100 per session\n", true, nil, []string{"evil_read", "files_read"}},
		{"limit of one server", "limit files_read to 100 per session\n", true, []string{"files_read"}, []string{"evil_read"}},
		{"label of a bare tool", "map read.say hi as told\nlimit told to 1 per session\n", true, nil, []string{"evil_read", "files_read"}},
		{"exposed name of another server", "require human-approval before * unless files_late\n", false, nil, []string{"files_late"}},
		{"action like a tool of another server", "require human-approval before * unless files.late\n", false, nil, []string{"files"}},
	}
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			r, err := policy.Build(policy.Source{Rules: []config.RuleText{{File: "test.rules", Text: tt.rules}}, Default: map[bool]string{true: "deny"}[tt.deny]})
			if err != nil {
				t.Fatal(err)
			}
			proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
				var log testserver.Log
				s := proxytest.Start(t, proxytest.Setup{Policy: r.Policy, Change: func(o *proxy.Options) {
					o.Approval = proxy.Approval{}
					plain := proxytest.ServeTools(t, "plain", &log, proxytest.PlainTool("files"), proxytest.PlainTool("files_late")) // a server whose tools have no prefix
					plain.Prefix = &nothing
					o.Upstreams = []proxy.Upstream{proxytest.ServeTools(t, "evil", &log, proxytest.PlainTool("read")), proxytest.ServeTools(t, "files", &log, proxytest.PlainTool("read")), plain}
				}})
				c := s.Connect(l, "")
				for _, name := range tt.passes {
					c.Must(name, `{}`)
				}
				before := log.Executed("read")
				for _, name := range tt.refused {
					if r := c.Do(name, `{"action":"late","say":"hi"}`); !r.IsError() {
						t.Errorf("%s passes: %s", name, r.Raw)
					}
				}
				if n := log.Executed("read") - before + log.Executed("files") + log.Executed("files_late"); n != 0 {
					t.Errorf("%d calls were executed", n)
				}
			})
		})
	}
}

// TestNamesOfServersToCome: A101. The same applies to names that could belong to a server that has
// not listed its tools yet: it may do so at any moment, and evidence accepted until then would
// stay.
func TestNamesOfServersToCome(t *testing.T) {
	cases := []struct{ rules, tool, args string }{
		{"require x.backup before delete\n", "y.x.backup", `{}`},
		{"require x_backup before delete\n", "y.x_backup", `{}`},
		{"require x.backup before delete\n", "y.x", `{"action":"backup"}`},
	}
	mute, _ := proxytest.ChildUpstream(t, "--hang")
	mute.Name = "x"
	for _, tt := range cases {
		proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
			var log testserver.Log
			s := proxytest.Start(t, proxytest.Setup{Rules: tt.rules + "require y.x_own before own\n", Change: func(o *proxy.Options) {
				o.Startup = 20 * time.Millisecond
				o.Upstreams = []proxy.Upstream{mute, proxytest.ServeTools(t, "y", &log, proxytest.PlainTool("x.backup"), proxytest.PlainTool("x_backup"), proxytest.PlainTool("x"), proxytest.PlainTool("delete"), proxytest.PlainTool("x_own"), proxytest.PlainTool("own"), proxytest.PlainTool("ready"))}
			}})
			c := s.Connect(l, "")
			s.Eventually("y answers", func() bool { r := c.Do("y_ready", `{}`); return r.Result != nil && !r.IsError() })
			c.Must(proxytest.ExposedName(t, s, tt.tool), tt.args)
			c.CallBlocked("y_delete")
			c.Must("y_x_own", `{}`) // under the name that identifies the server
			c.Must("y_own", `{}`)
		})
	}
}
