package policydiff

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/basefile"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/soak"
	"github.com/petrigate/petrigate/internal/toolname"
)

// TestRandomBases checks that no accepted configuration admits a call that its base refuses,
// whatever names the proxy and the hooks give to calls. The gate decides the same calls under the
// base alone and under the configuration.
func TestRandomBases(t *testing.T) {
	from, count := soak.Range(t, 12)
	tally := make(map[string]int)
	for seed := from; seed < from+uint64(count); seed++ {
		g := rand.New(rand.NewPCG(seed, 53))
		x := newExtension(g)
		alone, both, cfg := x.build(t)
		if both == nil {
			continue
		}
		verdict := "accepted"
		found := Widened(t.Context(), cfg, both)
		if len(found) > 0 {
			verdict = found[0].Code
		}
		wider := x.play(g, alone, both)
		switch {
		case verdict == "accepted" && wider != "":
			verdict += ", wider"
			t.Errorf("seed %d: the configuration is taken, and allows more than its base: %s\n%s", seed, wider, x)
		case verdict == "accepted":
		case wider != "":
			verdict += ", runs show it"
		default:
			verdict += ", runs do not show it"
		}
		tally[verdict]++
		tally[x.servers.String()+": "+verdict]++
	}
	for _, verdict := range slices.Sorted(maps.Keys(tally)) {
		t.Logf("%s: %d", verdict, tally[verdict])
	}
}

// An extension is a random base, a configuration that extends it, and the calls to make.
type extension struct {
	base, local []string
	deny        bool
	servers     serverSet
}

// A serverSet holds the servers of a configuration, with their tools.
type serverSet struct {
	text  string // text of the servers in the configuration
	all   toolname.Owners
	tools []string // tools that each of the servers has
}

func (s serverSet) String() string { return fmt.Sprintf("%d servers", len(s.all)) }

var serverSets = []serverSet{
	{"mcpServers: { sh: { command: x } }", toolname.Owners{{Upstream: "sh"}}, []string{"bash", "push", "test"}},
	{"mcpServers: { sh: { command: x, prefix: p } }", toolname.Owners{{Upstream: "sh", Prefix: "p_"}}, []string{"bash", "push", "test"}},
	{"mcpServers: { sh: { command: x }, git: { command: x } }", toolname.Owners{{Upstream: "sh", Prefix: "sh_"}, {Upstream: "git", Prefix: "git_"}}, []string{"bash", "push", "test"}},
	{"mcpServers: { sh: { command: x, prefix: \"\" }, git: { command: x } }", toolname.Owners{{Upstream: "sh"}, {Upstream: "git", Prefix: "git_"}}, []string{"bash", "push", "test"}},
	{"", nil, nil},
}

// Names of calls, as given by servers and by hooks.
var (
	spellings = [][]string{
		{"bash", "sh.bash", "sh_bash", "p_bash", "Bash", "claude-code.Bash", "codex.shell", "shell", "run_shell_command", "git.bash"},
		{"push", "sh.push", "git.push", "git_push", "p_push", "Push", "claude-code.Push"},
		{"test", "sh.test", "git.test", "git_test", "p_test", "Test"},
		{"edit", "Edit", "claude-code.Edit", "MultiEdit", "mcp__sh__test"},
	}
	patternsOfNames = []string{"*", "sh.*", "*bash", "*.bash", "git_*", "claude-code.*", "*ush", "mcp__*", "B*"}
	labelNames      = []string{"listing", "danger", "check"}
)

func newExtension(g *rand.Rand) *extension {
	x := &extension{deny: g.IntN(5) == 0, servers: serverSets[g.IntN(len(serverSets))]}
	w := &nameWriter{g, [][]string{spellings[g.IntN(len(spellings))], spellings[g.IntN(len(spellings))]}}
	for range g.IntN(3) {
		x.base = append(x.base, w.mapped())
	}
	for range 1 + g.IntN(3) {
		x.base = append(x.base, w.rule(x.deny))
	}
	for range 1 + g.IntN(2) {
		if g.IntN(5) < 3 {
			x.local = append(x.local, w.mapped())
		} else {
			x.local = append(x.local, w.rule(x.deny && g.IntN(3) == 0))
		}
	}
	return x
}

// A nameWriter writes rules about a few tools, using all of the tools' names.
type nameWriter struct {
	*rand.Rand
	tools [][]string
}

func (w *nameWriter) pick(from ...string) string { return from[w.IntN(len(from))] }

// name returns a name of a tool or label, or a pattern.
func (w *nameWriter) name() string {
	switch w.IntN(8) {
	case 0, 1:
		return w.pick(labelNames...)
	case 2:
		return w.pattern()
	}
	return quotedDots(w.pick(w.tools[w.IntN(len(w.tools))]...))
}

func (w *nameWriter) pattern() string { return w.pick(patternsOfNames...) }

// quotedDots quotes a name with a dot, so that it does not denote an action.
func quotedDots(name string) string {
	if strings.Contains(name, ".") {
		return `"` + name + `"`
	}
	return name
}

func (w *nameWriter) mapped() string {
	tool := w.pick(w.tools[w.IntN(len(w.tools))]...)
	if w.IntN(5) == 0 {
		tool = w.pattern()
	}
	as := w.pick(labelNames...)
	switch w.IntN(6) {
	case 0:
		return fmt.Sprintf("map %s.command rm as %s", quotedDots(tool), as)
	case 1:
		return fmt.Sprintf("map %s.script runs ls as %s", quotedDots(tool), as)
	}
	return fmt.Sprintf("map %s.command runs %s as %s", quotedDots(tool), w.pick("ls", "rm", "cat"), as)
}

func (w *nameWriter) unless() string {
	if w.IntN(2) == 0 {
		return ""
	}
	if w.IntN(2) == 0 {
		return " unless " + w.pick(labelNames...)
	}
	return " unless " + w.name()
}

func (w *nameWriter) rule(deny bool) string {
	if deny && w.IntN(3) > 0 {
		return "allow " + w.name()
	}
	switch w.IntN(10) {
	case 0, 1:
		return "block " + w.name() + w.unless()
	case 2:
		return fmt.Sprintf("limit %s to %d per session%s", w.name(), 1+w.IntN(2), w.unless())
	case 3:
		return fmt.Sprintf("limit %s to %d per %s", w.name(), 1+w.IntN(2), w.name())
	case 4:
		return fmt.Sprintf("block %s after %s%s", w.name(), w.name(), w.pick("", " until "+w.name()))
	case 5:
		return fmt.Sprintf("require %s before %s since %s", w.name(), w.name(), w.name())
	case 6, 7:
		return fmt.Sprintf("require %s before %s%s", w.name(), w.name(), w.unless())
	}
	return fmt.Sprintf("require %shuman-approval before %s%s", w.pick("", "2 "), w.name(), w.unless())
}

func (x *extension) String() string {
	return fmt.Sprintf("deny %v\n%s\nbase:\n%s\nconfiguration:\n%s\n", x.deny, x.servers.text, strings.Join(x.base, "\n"), strings.Join(x.local, "\n"))
}

// build returns the policies of the base alone and of the configuration. It returns nil if either
// is invalid.
func (x *extension) build(t *testing.T) (alone, both *policy.Result, cfg *config.Config) {
	t.Helper()
	inline := func(lines []string) string {
		return "rules:\n  - inline: |\n      " + strings.Join(lines, "\n      ") + "\n"
	}
	base := "base: { name: acme, version: 1 }\n" + inline(x.base)
	if x.deny {
		base += "default: deny\n"
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "base.yaml"), []byte(base), 0o600); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("extends:\n  - file: base.yaml\n    digest: %s\n%s\n%s", basefile.Digest([]byte(base)), x.servers.text, inline(x.local))
	cfg, err := config.Parse(filepath.Join(dir, "petrigate.yaml"), []byte(text), config.Options{})
	if err != nil {
		t.Fatal(err, x)
	}
	if both, err = policy.Build(policy.FromConfig(cfg)); err != nil {
		return nil, nil, nil
	}
	b := cfg.Bases[0]
	if alone, err = policy.Build(policy.Source{Rules: b.Rules, Default: b.Default}); err != nil {
		return nil, nil, nil
	}
	return alone, both, cfg
}

// calls returns the calls of the servers' tools, with the names that the proxy gives them, and of
// the agents' tools, with the names that hooks give them.
func (x *extension) calls() (calls []gate.Call) {
	var tools []toolname.Names
	for _, o := range x.servers.all {
		for _, bare := range x.servers.tools {
			tools = append(tools, toolname.Names{Upstream: o.Upstream, Bare: bare, Exposed: toolname.Exposed(o.Prefix, bare), Canonical: o.Upstream + "." + bare})
		}
	}
	taken := make(map[string]bool)
	for i, also := range toolname.AdditionalNames(tools, x.servers.all) {
		taken[tools[i].Exposed] = true
		calls = append(calls, gate.Call{Tool: tools[i].Exposed, Also: also, Foreign: x.servers.all.Foreign(tools[i]), Upstream: tools[i].Upstream})
	}
	for _, h := range hooked {
		c := gate.Call{Tool: h.tool, Foreign: taken[h.tool], Upstream: h.agent}
		for _, name := range h.also {
			name.Certain = name.Certain && !taken[name.Text]
			name.Weak = !name.Certain
			c.Also = append(c.Also, name)
		}
		calls = append(calls, c)
	}
	var all []gate.Call
	for _, c := range calls {
		for _, args := range []string{`{}`, `{"command":"ls"}`, `{"command":"rm x"}`, `{"command":"cat x"}`, `{"command":"ls; rm x"}`, `{"command":"ls","script":"ls"}`, `{"script":"ls"}`} {
			c.Args = []byte(args)
			all = append(all, c)
		}
	}
	return all
}

// hooked returns tools that agents report through their hooks, with the names listed in
// docs/hooks.md.
var hooked = func() (all []struct {
	agent, tool string
	also        []gate.Name
}) {
	add := func(agent, tool, sure, doubtful string) {
		var also []gate.Name
		for _, name := range strings.Fields(sure) {
			also = append(also, gate.Name{Text: name, Certain: true})
		}
		for _, name := range strings.Fields(doubtful) {
			also = append(also, gate.Name{Text: name})
		}
		all = append(all, struct {
			agent, tool string
			also        []gate.Name
		}{agent, tool, also})
	}
	add("claude-code", "Bash", "claude-code.Bash bash", "")
	add("claude-code", "Edit", "claude-code.Edit edit", "")
	add("claude-code", "MultiEdit", "claude-code.MultiEdit multiedit", "")
	add("claude-code", "Push", "claude-code.Push push", "bash") // an unknown tool with a command
	add("claude-code", "Test", "claude-code.Test test", "bash")
	add("claude-code", "Monitor", "claude-code.Monitor monitor", "bash")
	add("claude-code", "mcp__sh__test", "claude-code.mcp__sh__test", "test sh.test")
	add("claude-code", "mcp__sh__bash", "claude-code.mcp__sh__bash", "bash sh.bash")
	add("claude-code", "mcp__git__push", "claude-code.mcp__git__push", "push git.push")
	add("codex", "shell", "codex.shell bash", "")
	add("codex", "Bash", "codex.Bash bash", "")
	add("gemini-cli", "run_shell_command", "gemini-cli.run_shell_command bash", "")
	add("vscode", "mcp_sh_test", "vscode.mcp_sh_test", "test sh.test")
	add("cursor", "Edit", "cursor.Edit edit", "")
	return all
}()

// play makes random calls that the configuration admits. It returns a run whose last call the base
// refuses or requires more approvals for, or the empty string if it finds none.
func (x *extension) play(g *rand.Rand, alone, both *policy.Result) string {
	policies := [2]*gate.Policy{alone.Policy, both.Policy}
	all := x.calls()
	for round := range 12 {
		menu := all
		if round%3 > 0 { // runs get deeper with few tools
			menu = nil
			for range 3 {
				at := g.IntN(len(all)/7) * 7
				menu = append(menu, all[at:at+7]...)
			}
		}
		states := [2]*gate.State{policies[0].NewState(nil), policies[1].NewState(nil)}
		now := time.Unix(0, 0)
		var open [][2]uint64
		var story []string
		for range 40 {
			if len(open) > 0 && g.IntN(2) == 0 {
				i, outcome := g.IntN(len(open)), []gate.Outcome{gate.Success, gate.Success, gate.Failure, gate.Unknown}[g.IntN(4)]
				for k, p := range policies {
					states[k].Apply(p.SettleAt(states[k], open[i][k], outcome, now))
				}
				story = append(story, fmt.Sprintf("%d ends: %v", open[i][1], outcome))
				open = slices.Delete(open, i, i+1)
				continue
			}
			call := menu[g.IntN(len(menu))]
			call.Time = now
			before := [2]*gate.State{states[0].Clone(), states[1].Clone()}
			var verdicts [2]permission
			var numbers [2]uint64
			for k, p := range policies {
				verdicts[k], numbers[k], _ = decide(p, states[k], call)
			}
			story = append(story, fmt.Sprintf("%d: %s %v %s", numbers[1], call.Tool, call.Also, call.Args))
			if verdicts[1] < verdicts[0] {
				return strings.Join(story, "\n  ") + fmt.Sprintf(" is %v by the base, and %v", verdicts[0], verdicts[1])
			}
			if verdicts[1] == refusedCall {
				states = before
				story = story[:len(story)-1]
				continue
			}
			open = append(open, numbers)
		}
	}
	return ""
}
