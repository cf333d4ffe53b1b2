package listing

import (
	"fmt"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/toolname"
)

// TestRead checks that a tool is accepted only if every client reads it the same way.
func TestRead(t *testing.T) {
	const schema = `"inputSchema":{"type":"object"}`
	for _, c := range []struct {
		object, prefix string
		exposed        string // empty if the tool is refused
		problem        string // part of the problem
	}{
		{`{"name":"read",` + schema + `}`, "", "read", ""},
		{`{ "title":"T", "name":"re\u0061d", ` + schema + ` }`, "fs_", "fs_read", ""},
		{`{"name":"a.b/c",` + schema + `}`, "", toolname.Exposed("", "a.b/c"), ""},
		{`{"name":"read",` + schema + `,"name":"x"}`, "", "", "not strict JSON"},
		{`{` + schema + `}`, "", "", "no name"},
		{`{"name":7,` + schema + `}`, "", "", "the tool name 7 is outside"},
		{`{"name":"a b",` + schema + `}`, "", "", `the tool name "a b" is outside`},
		{`{"name":"a` + "\u202e" + `b",` + schema + `}`, "", "", `a\u{202e}b`},
		{`{"name":"` + strings.Repeat("x", 129) + `",` + schema + `}`, "", "", "is outside"},
		{`{"name":"read","Name":"write",` + schema + `}`, "", "", "two name members that differ in case only"},
		{`{"name":"read"}`, "", "", "no inputSchema"},
		{`{"name":"read","inputSchema":[]}`, "", "", "no inputSchema"},
		{strings.Repeat("[", MaxDepth+1) + strings.Repeat("]", MaxDepth+1), "", "", "not strict JSON"},
	} {
		tool, problem := Read([]byte(c.object), c.prefix)
		if tool.Exposed != c.exposed || !strings.Contains(problem, c.problem) || (problem == "") != (c.exposed != "") {
			t.Errorf("%s: %q, %q", c.object, tool.Exposed, problem)
		}
	}
	tool, _ := Read([]byte(`{"name":"read", "x":1.0, `+schema+`,"annotations":{"readOnlyHint":true},"execution":{"taskSupport":"required"}}`), "fs_")
	if want := `{"name":"fs_read", "x":1.0, ` + schema + `,"annotations":{"readOnlyHint":true},"execution":{"taskSupport":"required"}}`; string(tool.Object) != want {
		t.Errorf("%s, want %s", tool.Object, want)
	}
	if !tool.OnlyTask || string(tool.Annotations) != `{"readOnlyHint":true}` || tool.Mirrored != nil || len(tool.Definition) != 64 {
		t.Errorf("%+v", tool)
	}
	tool, _ = Read([]byte(`{"name":"read","inputSchema":{"type":"object","properties":{"p":{"type":"string","x-mcp-header":"P"}}}}`), "")
	if tool.Mirrored == nil {
		t.Error("nobody knows of the header")
	}
}

// TestCrowded checks that the warning names the highest threshold that is exceeded.
func TestCrowded(t *testing.T) {
	for n, want := range map[int]string{0: "", 40: "", 41: "more than 40 ", 101: "more than 100 ", 129: "more than 128 "} {
		if got := CrowdWarning(n); !strings.HasPrefix(got, want) || got != "" && want == "" {
			t.Errorf("%d: %q", n, got)
		}
	}
}

func ExampleMembers() {
	var several Members
	several.Add("files", []byte(`{"nextCursor":"2","x":1,"y":1,"_meta":{"a":1}}`))
	several.Add("files", []byte(`{"x":2}`)) // another page: the first one counts
	several.Add("web", []byte(`{"y":2,"_meta":{"b":1}}`))
	fmt.Printf("{\"tools\":[]%s}\n", several.Append(nil))
	// Output: {"tools":[],"x":1,"_meta":{"a":1,"b":1}}
}
