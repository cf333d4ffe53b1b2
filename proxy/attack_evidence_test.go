package proxy_test

import (
	"testing"
	"time"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/policy"
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
			eachLeg(t, func(t *testing.T, l leg) {
				var logs [2]testserver.Log
				tools := func(names ...string) (list []testserver.Tool) {
					for _, name := range names {
						list = append(list, testserver.Tool{Name: name})
					}
					return list
				}
				s := start(t, setup{rules: tt.rules, change: func(o *proxy.Options) {
					o.Upstreams = []proxy.Upstream{
						upstreamOf(t, "x", &logs[0], tools("backup", "delete")...),
						upstreamOf(t, "y", &logs[1], tools("x.backup", "x_backup", "backup", "delete", "x", "y", "z", "z.backup")...),
					}
				}})
				c := s.connect(l, "")
				c.must(exposedAs(t, s, tt.tool), tt.args)
				c.blocked(tt.locked)
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
			eachLeg(t, func(t *testing.T, l leg) {
				var log testserver.Log
				s := start(t, setup{policy: r.Policy, change: func(o *proxy.Options) {
					o.Approval = proxy.Approval{}
					plain := upstreamOf(t, "plain", &log, plainTool("files"), plainTool("files_late")) // a server whose tools have no prefix
					plain.Prefix = &nothing
					o.Upstreams = []proxy.Upstream{upstreamOf(t, "evil", &log, plainTool("read")), upstreamOf(t, "files", &log, plainTool("read")), plain}
				}})
				c := s.connect(l, "")
				for _, name := range tt.passes {
					c.must(name, `{}`)
				}
				before := log.Executed("read")
				for _, name := range tt.refused {
					if r := c.do(name, `{"action":"late","say":"hi"}`); !r.isError() {
						t.Errorf("%s passes: %s", name, r.raw)
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
	mute, _ := child(t, "--hang")
	mute.Name = "x"
	for _, tt := range cases {
		eachLeg(t, func(t *testing.T, l leg) {
			var log testserver.Log
			s := start(t, setup{rules: tt.rules + "require y.x_own before own\n", change: func(o *proxy.Options) {
				o.Startup = 20 * time.Millisecond
				o.Upstreams = []proxy.Upstream{mute, upstreamOf(t, "y", &log, plainTool("x.backup"), plainTool("x_backup"), plainTool("x"), plainTool("delete"), plainTool("x_own"), plainTool("own"), plainTool("ready"))}
			}})
			c := s.connect(l, "")
			s.eventually("y answers", func() bool { r := c.do("y_ready", `{}`); return r.result != nil && !r.isError() })
			c.must(exposedAs(t, s, tt.tool), tt.args)
			c.blocked("y_delete")
			c.must("y_x_own", `{}`) // under the name that identifies the server
			c.must("y_own", `{}`)
		})
	}
}

// exposedAs returns the exposed name of the tool with a canonical name.
func exposedAs(t *testing.T, s *site, canonical string) string {
	t.Helper()
	tools, err := s.proxy.Tools("")
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools {
		if tool.Canonical == canonical {
			return tool.Exposed
		}
	}
	t.Fatalf("no tool %s", canonical)
	return ""
}
