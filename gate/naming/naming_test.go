package naming_test

import (
	"strings"
	"testing"

	"github.com/petrigate/petrigate/gate/naming"
	"github.com/petrigate/petrigate/gate/toolnet"
)

// call parses "tool" or "tool {arguments}".
func call(text string) toolnet.Call {
	tool, args, _ := strings.Cut(text, " ")
	return toolnet.Call{Tool: tool, Args: []byte(args)}
}

func contains(word string) func(string) bool {
	return func(s string) bool { return strings.Contains(s, word) }
}

// names formats a call's names.
func names(g *naming.Naming, c toolnet.Call) string {
	return spell(naming.Names(g.Labels(&c, naming.Physical(&c, nil), nil)))
}

// spell formats names: a! is certain, b~ is weak, c is neither.
func spell(names []toolnet.Name) string {
	var out []string
	for _, n := range names {
		text := n.Text
		if n.Certain {
			text += "!"
		}
		if n.Weak {
			text += "~"
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

func TestNames(t *testing.T) {
	maps := []toolnet.Map{
		{Tool: "sh", Field: "command", As: "remove", Match: contains("rm")},
		{Tool: "sh", Field: "note", As: "noted", Match: contains("x")},
		{Tool: "sh", Field: "command", As: "copy", Match: contains("cp")},
		{Tool: "up.sh", Field: "command", As: "early", Match: contains("rm")},
		{Tool: "sh", Field: "command", As: "pair", Match: contains("a b")},
	}
	maps = append(maps[3:4:4], append(maps[:3:3], maps[4])...)
	g := naming.New(maps)
	g.Name("chat.send")
	for i, p := range []naming.Pattern{{Text: "re*"}, {Text: "*.x", Actions: true}, {Text: "re*", Except: "sh"}, {Text: "s?"}, {Text: "deep.*", Actions: true}} {
		for range 2 { // the second time, the pattern is found
			if n := g.Number(&p); n != i || g.Patterns()[i] != p {
				t.Errorf("the number of %v is %d", p, n)
			}
		}
	}
	for _, c := range []struct {
		call toolnet.Call
		want string
	}{
		{call("other"), "other!"},
		{call(`sh {"command":"rm a; cp b"}`), "sh! remove copy re* s?!"},
		{call(`sh {"command":"rm","note":"x"}`), "sh! remove noted re* s?!"},
		{call(`sh {"command":["cp",7,null,true,{"k":"rm"}]}`), "sh! remove~ copy~ re*~ s?!"},
		{call(`sh {"command":["a","b"]}`), "sh! pair~ s?!"},
		{call(`sh {"command":[]}`), "sh! s?!"},
		{call(`sh {"command":null}`), "sh! s?!"},
		{call(`chat {"action":"send"}`), "chat! chat.send!"},
		{call(`chat {"action":"x"}`), "chat! chat.x! *.x!"},
		{call(`chat {"action":["send","other","x","yx.x","send"]}`), "chat! chat.send~ chat.x~ *.x~"},
		{call(`chat {"action":{"a":1}}`), "chat!"},
		{call(`reply {"action":"y"}`), "reply! reply.y! re*!"},
		{call("chat"), "chat!"},
		{toolnet.Call{Tool: "gh_sh", Also: []toolnet.Name{{Text: "sh", Certain: true, Weak: true}, {Text: "up.sh", Certain: true}}, Args: []byte(`{"command":"rm"}`)},
			"gh_sh! sh!~ up.sh! early remove~ re*~ s?!~"},
	} {
		if got := names(g, c.call); got != c.want {
			t.Errorf("%s %s:\n got %s\nwant %s", c.call.Tool, c.call.Args, got, c.want)
		}
	}
}

// A name that another tool might have only restricts.
func TestForeignTool(t *testing.T) {
	foreign := call("a")
	foreign.Foreign = true
	p := naming.New(nil)
	if got := names(p, foreign); got != "a~" {
		t.Error(got)
	}
	foreign.Also = []toolnet.Name{{Text: "a", Certain: true}}
	if got := names(p, foreign); got != "a!" {
		t.Error(got)
	}
}

func TestPathsOfMaps(t *testing.T) {
	for _, c := range []struct {
		field, args, want string
	}{
		{"$.a.b", `{"a":{"b":"x"}}`, "t! hit"},
		{"$.a.b", `{"a":{"b":["x"]}}`, "t! hit~"},
		{"$.a.b", `{"a":{"b":"y"},"b":"x"}`, "t!"},
		{"$.a.b", `{"a":["x"]}`, "t! hit~"},
		{"$.a.b", `{"a":[{"b":"x"}]}`, "t! hit~"},
		{"$.a.b", `{"a":"{\"b\":\"x\"}"}`, "t! hit~"},
		{"$.a.b", `{"a":null}`, "t!"},
		{"$.a.b", `{"a":{"c":"x"}}`, "t!"},
		{"$[0]", `{"a":"x"}`, "t! hit~"},
		{"$.a.b", `{"a.b":"x"}`, "t!"},
		{"$.a[1]", `{"a":["x","y"]}`, "t!"},
		{"$.a[1]", `{"a":["y","x","y"]}`, "t! hit"},
		{"$.a[1]", `{"a":{"1":"x"}}`, "t! hit~"},
		{"$.a[1]", `{"a":["x"]}`, "t!"},
		{"$.a[*].p", `{"a":[{"p":"y"},{"q":"x"},{"p":"x"}]}`, "t! hit~"},
		{"$.a[*]", `{"a":["x"]}`, "t! hit~"},
		{"$.a[*]", `{"a":[]}`, "t!"},
		{"$.a[*]", `{"a":"x"}`, "t! hit~"},
		{"$.a[*].p", `{"a":{"p":"x"}}`, "t! hit~"},
		{"$.a[*].p", `{"a":[[{"p":"x"}],{"q":"y"}]}`, "t! hit~"},
		{`$["a"]["b.c"]`, `{"a":{"b.c":"x"}}`, "t! hit"},
		{"a", `{"A":"x"}`, "t! hit~"},
		{"a", `{"A":"x","a":"y"}`, "t! hit~"},
		{"a", `{"A":"y","a":"x"}`, "t! hit~"},
		{"a", `{"a":"x","A":null}`, "t! hit~"},
		{"a", `{"A":{"b":["x"]}}`, "t! hit~"},
		{"a", `{"A":"y"}`, "t!"},
		{"task", `{"ta\u017f\u212a":"x"}`, "t! hit~"},
		{"$.a.b", `{"A":{"b":"x"}}`, "t! hit~"},
		{"$.a.b", `{"a":{"b":"x"},"A":{}}`, "t! hit~"},
		{"$.a.b", `{"a":{"b":"y","B":"x"}}`, "t! hit~"},
		{"$.a.b", `{"a":{"b":"x","c":{"B":"y"}},"B":"y"}`, "t! hit"},
		{"$.a[1].b", `{"a":["y",{"b":"y","B":"x"}]}`, "t! hit~"},
		{"$.a[*].b", `{"A":[{"b":"y"},{"B":"x"}]}`, "t! hit~"},
	} {
		m := toolnet.Map{Tool: "t", Field: c.field, As: "hit", Source: "x", Match: contains("x")}
		p := naming.New([]toolnet.Map{m})
		if got := names(p, call("t "+c.args)); got != c.want {
			t.Errorf("%s of %s: %s, want %s", c.field, c.args, got, c.want)
		}
	}
}

// TestExemptions checks that a call gets the actions that could exempt it, and that they exempt it
// if they are certain.
func TestExemptions(t *testing.T) {
	plain, literal, glob := toolnet.Tool{Name: "chat.send"}, toolnet.Tool{Name: "chat.send", Kind: toolnet.Literal}, toolnet.Tool{Name: "chat.*", Kind: toolnet.Glob}
	g := naming.New(nil)
	g.Exempt([]toolnet.Tool{plain, literal})
	if d := g.Dotted(); len(d) != 1 || !d["chat.send"] || !g.HasActions("chat") || g.HasActions("send") {
		t.Errorf("dotted: %v", d)
	}
	pattern := naming.NewPattern(toolnet.Tool{Name: "chat*", Kind: toolnet.Glob})
	g.Number(&pattern)
	for _, c := range []struct {
		call                 string
		plain, literal, glob bool
	}{
		{`chat {"action":"send"}`, true, false, true},
		{`chat {"action":["send"]}`, false, false, false},
		{"chat.send", true, true, true},
		{"chat", false, false, false},
	} {
		asked := call(c.call)
		ls := g.Labels(&asked, naming.Physical(&asked, nil), nil)
		if naming.Exempts(&plain, ls) != c.plain || naming.Exempts(&literal, ls) != c.literal || naming.Exempts(&glob, ls) != c.glob {
			t.Errorf("%s: exempt by the plain name: %v, the literal: %v, the pattern: %v", c.call,
				naming.Exempts(&plain, ls), naming.Exempts(&literal, ls), naming.Exempts(&glob, ls))
		}
	}
	other := naming.New(nil)
	other.Exempt([]toolnet.Tool{glob})
	if got := names(other, call(`chat {"action":"read"}`)); got != "chat! chat.read!" {
		t.Errorf("with a pattern over actions: %s", got)
	}
}

// TestExceptionsOfPatterns checks that a pattern is not compared with its exception, and that a
// call that certainly has that name is exempt.
func TestExceptionsOfPatterns(t *testing.T) {
	for _, c := range []struct {
		literal    bool
		call, want string
	}{
		{false, `chat {"action":"send"}`, "chat! chat.send!"},
		{true, `chat {"action":"send"}`, "chat! chat.send! *.s*!"},
		{true, "chat.send", "chat.send!"},
		{false, `chat {"action":["send"]}`, "chat! chat.send~"},
		{false, `chat {"action":["see","send"]}`, "chat! chat.see~ chat.send~ *.s*~"},
	} {
		g := naming.New(nil)
		g.Number(&naming.Pattern{Text: "*.s*", Except: "chat.send", Literal: c.literal, Actions: true})
		if got := names(g, call(c.call)); got != c.want {
			t.Errorf("%s, literal %v: %s, want %s", c.call, c.literal, got, c.want)
		}
	}
}

// TestUnusedLabels checks that calls get the names of maps although no net uses them, but no names
// of actions.
func TestUnusedLabels(t *testing.T) {
	g := naming.New([]toolnet.Map{{Tool: "sh", Field: "c", As: "copy", Match: contains("cp")}})
	if got := names(g, call(`sh {"c":"cp","action":"run"}`)); got != "sh! copy" {
		t.Error(got)
	}
}

// TestOwnNames checks names given by a Go function, by maps, by the first map, by nothing, and by
// patterns.
func TestOwnNames(t *testing.T) {
	maps := naming.NewMapping([]toolnet.Map{
		{Tool: "sh", Field: "c", As: "copy", Match: contains("cp")},
		{Tool: "s?", Glob: true, Field: "c", As: "remove", Match: contains("rm")},
	})
	mapper := func(c toolnet.Call) []toolnet.Name {
		if c.Tool == "panic" {
			panic("beyond me")
		}
		return []toolnet.Name{{Text: "m-" + c.Tool, Certain: true}}
	}
	patterns := []naming.Pattern{{Text: "*o*"}}
	for _, c := range []struct {
		own        naming.Own
		adds       bool
		call, want string
	}{
		{naming.Own{Patterns: patterns}, false, "tool", "tool! *o*!"},
		{naming.Own{Maps: maps, Patterns: patterns}, true, `sh {"c":"cp; rm"}`, "sh! copy remove *o*"},
		{naming.Own{Maps: maps, First: true}, true, `sh {"c":"cp; rm"}`, "copy"},
		{naming.Own{Maps: maps, First: true}, true, "sh", "sh!"},
		{naming.Own{Mapper: mapper}, true, "a", "m-a!"},
		{naming.Own{Mapper: mapper}, true, "panic", ""},
	} {
		asked := call(c.call)
		ls, ok := c.own.Labels(&asked, naming.Physical(&asked, nil))
		if got := spell(naming.Names(ls)); got != c.want || ok != (c.want != "") || c.own.Adds() != c.adds {
			t.Errorf("%s: %s, %v, want %s", c.call, got, ok, c.want)
		}
	}
	if all := naming.Merge(naming.Physical(&toolnet.Call{Tool: "a"}, nil), []naming.Label{{Text: "a", Weak: true}, {Text: "b"}}); spell(naming.Names(all)) != "a! b" {
		t.Errorf("merged are %v", all)
	}
}

// TestMapsByTool checks the lookup of maps without arguments.
func TestMapsByTool(t *testing.T) {
	reader := &commands{words: []string{"rm"}}
	maps := []toolnet.Map{{Tool: "sh", Field: "c", As: "copy", Match: contains("cp")}, {Tool: "s?", Glob: true, Field: "c", As: "remove", Reader: reader}}
	m := naming.NewMapping(maps)
	if !m.Has("sh") || !m.Has("sx") || m.Has("other") {
		t.Error("a map is about another tool")
	}
	if tools, patterns := m.Tools(); len(tools) != 2 || !patterns {
		t.Errorf("the maps are about %v", tools)
	}
	var none *naming.Mapping
	if tools, patterns := none.Tools(); tools != nil || patterns {
		t.Error("no maps give a name")
	}
}

// TestGives checks, without arguments, which names maps and actions could give a call.
func TestGives(t *testing.T) {
	maps := []toolnet.Map{{Tool: "sh", Field: "c", As: "copy", Match: contains("cp")}, {Tool: "s?", Glob: true, Field: "c", As: "remove", Reader: &commands{words: []string{"rm"}}}}
	policy, own, none := naming.New(maps), naming.Own{Maps: naming.NewMapping(maps)}, naming.Own{}
	for _, c := range []struct {
		call    string
		tool    toolnet.Tool
		certain bool
		policy  bool
		own     bool
	}{
		{"sx", toolnet.Tool{Name: "remove"}, true, true, true},
		{"other", toolnet.Tool{Name: "remove"}, false, false, false},
		{"sh", toolnet.Tool{Name: "copy"}, true, false, false},
		{"sh", toolnet.Tool{Name: "copy"}, false, true, true},
		{"git", toolnet.Tool{Name: "git.push"}, true, true, false},
		{"git", toolnet.Tool{Name: "gitx.push"}, true, false, false},
		{"git", toolnet.Tool{Name: "git.push", Kind: toolnet.Literal}, true, false, false},
		{"git", toolnet.Tool{Name: "*.push", Kind: toolnet.Glob}, true, true, false},
		{"git", toolnet.Tool{Name: "x*", Kind: toolnet.Glob}, true, false, false},
	} {
		tools := naming.Physical(&toolnet.Call{Tool: c.call}, nil)
		if got := policy.CanGive(tools, &c.tool, c.certain); got != c.policy {
			t.Errorf("%s as %+v, certain %v: %v", c.call, c.tool, c.certain, got)
		}
		if got := own.CanGive(tools, &c.tool, c.certain); got != c.own {
			t.Errorf("%s as %+v of a net, certain %v: %v", c.call, c.tool, c.certain, got)
		}
		if none.CanGive(tools, &c.tool, c.certain) {
			t.Errorf("%s as %+v without maps", c.call, c.tool)
		}
	}
}

// TestAddMergesNear checks that a name is not near once a map proves it.
func TestAddMergesNear(t *testing.T) {
	near, weak, proved := naming.Label{Text: "a", Weak: true, Near: true}, naming.Label{Text: "a", Weak: true}, naming.Label{Text: "a"}
	for _, c := range []struct {
		first, second naming.Label
		want          bool
	}{{near, proved, false}, {proved, near, false}, {near, weak, true}, {weak, near, true}, {weak, weak, false}} {
		if ls := naming.Add([]naming.Label{c.first}, c.second); len(ls) != 1 || ls[0].Near != c.want {
			t.Errorf("%+v and %+v: %+v", c.first, c.second, ls)
		}
	}
}
