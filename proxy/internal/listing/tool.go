package listing

import (
	"bytes"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/internal/toolname"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// MaxDepth is how deep an element of a list may be nested.
const MaxDepth = 128

// maxName is how much of a name that is none a problem tells.
const maxName = 200

// A Tool is what the element of a list of tools says.
type Tool struct {
	Name        string    // the upstream's
	Exposed     string    // the client's
	Object      []byte    // as the client sees it
	Definition  string    // hash of the upstream's object
	Annotations []byte    // as the upstream wrote them; nil: none
	OnlyTask    bool      // it can be called as a task only
	Mirrored    *mcp.Tool // where arguments are to stand in headers too; nil: nowhere
}

// Read reads the tool of an upstream with a prefix, or says why clients could
// not call it, or would take it for another.
func Read(object []byte, prefix string) (t Tool, problem string) {
	if err := rawjson.Check(object, MaxDepth); err != nil {
		return t, "a tool is not strict JSON: " + text.Escape(err.Error())
	}
	lit, ok := rawjson.Member(object, "name")
	if !ok {
		return t, "a tool has no name"
	}
	name, ok := rawjson.String(lit)
	if !ok || !toolname.Valid(name) {
		return t, "the tool name " + text.Escape(string(lit[:min(len(lit), maxName)])) + " is outside [A-Za-z0-9_./-]{1,128}"
	}
	if problem := unreadable(object); problem != "" {
		return t, "the tool " + name + " " + problem
	}
	t = Tool{Name: name, Exposed: toolname.Exposed(prefix, name), Object: object, Definition: wire.Digest(object), Mirrored: mirrored(object)}
	if t.Exposed != name {
		t.Object = wire.ReplaceMember(nil, object, "name", rawjson.AppendString(nil, t.Exposed))
	}
	execution, _ := rawjson.Member(object, "execution")
	support, _ := rawjson.Member(execution, "taskSupport")
	t.OnlyTask = string(support) == `"required"`
	t.Annotations, _ = rawjson.Member(object, "annotations")
	return t, ""
}

// mirrored is what mcp-go reads of the tool, if some of its arguments have to be
// repeated in headers.
func mirrored(object []byte) *mcp.Tool {
	schema, _ := rawjson.Member(object, "inputSchema")
	t := &mcp.Tool{RawInputSchema: schema}
	if !bytes.Contains(schema, []byte("x-mcp-header")) || len(mcp.ExtractParamHeaderBindings(t)) == 0 {
		return nil
	}
	return t
}

// unreadable is why clients would read the tool as another one, or none of the
// list at all for its sake; empty: they would not.
func unreadable(object []byte) string {
	variant := false
	rawjson.Members(object, func(key, _ []byte, _ int) bool {
		variant = string(key) != "name" && bytes.EqualFold(key, []byte("name"))
		return !variant
	})
	schema, _ := rawjson.Member(object, "inputSchema")
	switch {
	case variant:
		return "has a second name in other case"
	case rawjson.Kind(schema) != '{':
		return "has no inputSchema that is an object"
	}
	return ""
}

// Crowded is the most of those numbers of tools that n is over, from which on
// known clients do worse, or take no more.
func Crowded(n int) (warning string) {
	for _, c := range [...]struct {
		more    int
		clients string
	}{
		{40, "Cursor chooses worse among so many"},
		{100, "Windsurf takes no more, and Cursor chooses worse among so many"},
		{128, "VS Code sends no more to a model, its own among them, Windsurf takes 100, and Cursor chooses worse among so many"},
	} {
		if n > c.more {
			warning = fmt.Sprintf("more than %d tools are listed: %s; tools.allow and tools.deny of a server leave out what is not needed", c.more, c.clients)
		}
	}
	return warning
}
