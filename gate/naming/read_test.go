package naming_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/gate/naming"
	"github.com/petrigate/petrigate/gate/toolnet"
)

// commands is a reader for texts such as "cp; rm": pattern i is the word words[i]. A "?" matches
// any word. On the text "panic", the reader panics.
type commands struct {
	words []string
	reads int
}

type reading struct {
	commands []string
	of       *commands
}

func (c *commands) Read(_ *toolnet.Call, text string) toolnet.Reading {
	if text == "panic" {
		panic("beyond me")
	}
	c.reads++
	return reading{strings.Split(text, "; "), c}
}

func (r reading) Finds(pattern int) toolnet.Found {
	switch {
	case slices.Contains(r.commands, r.of.words[pattern]):
		return toolnet.Surely
	case slices.Contains(r.commands, "?"):
		return toolnet.Perhaps
	default:
		return toolnet.NotFound
	}
}

func (r reading) Only(patterns []int) bool {
	for _, c := range r.commands {
		if !slices.ContainsFunc(patterns, func(p int) bool { return r.of.words[p] == c }) {
			return false
		}
	}
	return true
}

func (r reading) Doubt(int) toolnet.Doubt { return toolnet.Doubt{What: "a doubt"} }
func (r reading) Evidence(int) bool       { return len(r.commands) == 1 }

func shellMaps(c *commands) []toolnet.Map {
	return []toolnet.Map{
		{Tool: "sh", Field: "c", Reader: c, Pattern: 0, As: "read", Source: "ls"},
		{Tool: "sh", Field: "c", Reader: c, Pattern: 1, As: "read", Source: "cat"},
		{Tool: "sh", Field: "c", Reader: c, Pattern: 2, As: "remove", Source: "rm"},
	}
}

// TestManyTexts checks that a field with very many or very long strings is not read and only
// restricts.
func TestManyTexts(t *testing.T) {
	array := func(n int, text string) string {
		return `{"c":[` + strings.TrimSuffix(strings.Repeat(fmt.Sprintf("%q,", text), n), ",") + `]}`
	}
	for _, tt := range []struct {
		args, want string
		reads      int
	}{
		{array(999, "echo"), "sh!", 1000}, // each text separately, and all joined
		{array(1000, "echo"), "sh! read~ remove~", 0},
		{array(300_000, "a"), "sh! read~ remove~", 0},
		{array(2, strings.Repeat("a", 32<<10-1)), "sh!", 3},
		{array(2, strings.Repeat("a", 32<<10)), "sh! read~ remove~", 0},
		{fmt.Sprintf(`{"c":%q}`, strings.Repeat("a", 1<<20)), "sh!", 1},
	} {
		c := &commands{words: []string{"ls", "cat", "rm"}}
		p := naming.New(shellMaps(c))
		asked := call("sh " + tt.args)
		before := allocated()
		if names(p, asked); tt.reads == 0 && allocated()-before > 1<<20 {
			t.Errorf("%.20s..., %d bytes: %d bytes are made to find that nothing is read", tt.args, len(tt.args), allocated()-before)
		}
		c.reads = 0
		if got := names(p, asked); got != tt.want || c.reads != tt.reads {
			t.Errorf("%.20s..., %d bytes: %s after %d readings, want %s after %d", tt.args, len(tt.args), got, c.reads, tt.want, tt.reads)
		}
	}
}

// allocated returns the number of bytes allocated so far.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

func TestNamesByReaders(t *testing.T) {
	p := naming.New(shellMaps(&commands{words: []string{"ls", "cat", "rm"}}))
	for args, want := range map[string]string{
		`{"c":"ls"}`:          "sh! read!",
		`{"c":"ls; cat"}`:     "sh! read!~",
		`{"c":"ls; rm"}`:      "sh! read~ remove~",
		`{"c":"rm"}`:          "sh! remove!",
		`{"c":"echo"}`:        "sh!",
		`{"c":"?"}`:           "sh! read~ remove~",
		`{"c":"panic"}`:       "sh! read~ remove~",
		`{"c":["ls"]}`:        "sh! read~",
		`{"c":["ls","rm"]}`:   "sh! read~ remove~",
		`{"c":{"a":["?",1]}}`: "sh! read~ remove~",
		`{"c":null}`:          "sh!",
		`{}`:                  "sh!",
	} {
		if got := names(p, call("sh "+args)); got != want {
			t.Errorf("%s: %s, want %s", args, got, want)
		}
	}
	also := toolnet.Call{Tool: "up_sh", Also: []toolnet.Name{{Text: "sh"}}, Args: []byte(`{"c":"ls"}`)}
	if got := names(p, also); got != "up_sh! sh read" {
		t.Errorf("a label is as certain as its tool: %s", got)
	}
}

func TestReadersReadOnce(t *testing.T) {
	shell, whole := &commands{words: []string{"ls", "cat", "rm"}}, &commands{words: []string{""}}
	maps := append(shellMaps(shell), toolnet.Map{Tool: "sh", Reader: whole, As: "any", Source: "true"},
		toolnet.Map{Tool: "sh", Reader: whole, As: "each", Source: "true"})
	p := naming.New(maps)
	if got := names(p, call(`sh {"c":"ls"}`)); got != "sh! read! any! each!" {
		t.Error(got)
	}
	if shell.reads != 1 || whole.reads != 1 {
		t.Errorf("the field was read %d times, the call %d times", shell.reads, whole.reads)
	}
}

// TestTwoFields checks that if the tool acts on two fields, neither field alone is certain, even if
// a map over a pattern of tools reads the other.
func TestTwoFields(t *testing.T) {
	words := &commands{words: []string{"ls", "rm"}}
	g := naming.New([]toolnet.Map{{Tool: "sh", Field: "c", Reader: words, As: "read", Source: "ls"},
		{Tool: "s*", Glob: true, Field: "d", Reader: words, Pattern: 1, As: "remove", Source: "rm"}})
	for args, want := range map[string]string{
		`{"c":"ls"}`:            "sh! read!",
		`{"c":"ls","d":"echo"}`: "sh! read~",
		`{"c":"ls","d":"rm"}`:   "sh! read~ remove~",
	} {
		if got := names(g, call("sh "+args)); got != want {
			t.Errorf("%s: %s, want %s", args, got, want)
		}
	}
}

// TestWhy checks that the doubt comes from the field with the surest match.
func TestWhy(t *testing.T) {
	words := &commands{words: []string{"ls", "rm"}}
	maps := []toolnet.Map{
		{Tool: "sh", Field: "c", Reader: words, Pattern: 0, As: "read"},
		{Tool: "sh", Field: "d", Reader: words, Pattern: 0, As: "read"},
		{Tool: "sh", Field: "c", As: "plain", Match: func(string) bool { return true }},
	}
	own := naming.Own{Maps: naming.NewMapping(maps)}
	for args, want := range map[string]struct {
		what  string
		found toolnet.Found
	}{
		`{}`:                      {"", toolnet.NotFound},
		`{"c":"rm"}`:              {"a doubt", toolnet.NotFound}, // the missing part
		`{"c":"rm","d":"ls"}`:     {"", toolnet.Surely},
		`{"c":"ls"}`:              {"", toolnet.Surely},
		`{"c":"?"}`:               {"a doubt", toolnet.Perhaps},
		`{"c":"ls; rm"}`:          {"a doubt", toolnet.Surely},
		`{"c":"?","d":"ls; rm"}`:  {"a doubt", toolnet.Surely},
		`{"c":"?","d":"ls"}`:      {"", toolnet.Surely}, // evidence, whatever the other field does
		`{"c":"ls; rm","d":"ls"}`: {"", toolnet.Surely},
		`{"c":"panic"}`:           {"", toolnet.NotFound},
	} {
		c := &toolnet.Call{Tool: "sh", Args: []byte(args)}
		for _, ask := range []func(*toolnet.Call, []naming.Label, string) (toolnet.Doubt, toolnet.Found){own.Why, naming.New(maps).Why} {
			if d, found := ask(c, naming.Physical(c, nil), "read"); d.What != want.what || found != want.found {
				t.Errorf("%s: %q, %v, want %+v", args, d.What, found, want)
			}
		}
	}
	c := &toolnet.Call{Tool: "sh", Args: []byte(`{"c":"?"}`)}
	if _, found := new(naming.Own).Why(c, naming.Physical(c, nil), "read"); found != toolnet.NotFound {
		t.Error("a net without maps finds something")
	}
	if _, found := naming.New(nil).Why(c, naming.Physical(c, nil), "read"); found != toolnet.NotFound {
		t.Error("a policy without maps finds something")
	}
}

// TestCode checks the part of a text that a map matches, if the map's reader can tell.
func TestCode(t *testing.T) {
	m := toolnet.Map{Tool: "sh", Field: "c", Reader: coded{}, As: "read"}
	for text, want := range map[string]string{"ls -l": "ls", "cat": "", "panic": ""} {
		if code, ok := naming.Code(&m, &toolnet.Call{}, text); code != want || ok != (want != "") {
			t.Errorf("%s: %q, %v", text, code, ok)
		}
	}
}

type coded struct{}

func (coded) Read(_ *toolnet.Call, text string) toolnet.Reading {
	if text == "panic" {
		panic("beyond me")
	}
	return codedReading(text)
}

type codedReading string

func (r codedReading) Finds(int) toolnet.Found {
	return map[bool]toolnet.Found{true: toolnet.Surely}[strings.HasPrefix(string(r), "ls")]
}
func (codedReading) Only([]int) bool         { return false }
func (codedReading) Evidence(int) bool       { return true }
func (codedReading) Doubt(int) toolnet.Doubt { return toolnet.Doubt{Code: "ls"} }
