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

// MaxDepth is the maximum nesting depth of a list element.
const MaxDepth = 128

// maxName is the maximum length, in bytes, of an invalid name in an error message. A longer name is
// truncated.
const maxName = 200

// A Tool is an element in a list of tools.
type Tool struct {
	Name        string    // the upstream's own name for the tool
	Exposed     string    // the name that clients use for the tool
	Object      []byte    // JSON object, as sent to clients
	Definition  string    // hash of the JSON object sent by the upstream
	Annotations []byte    // annotations sent by the upstream; nil if none
	OnlyTask    bool      // whether calls to the tool must run as tasks
	Mirrored    *mcp.Tool // holds only the tool's input schema, for mirroring arguments in HTTP headers; nil if no argument must be mirrored
}

// Read parses a tool object from an upstream. It also returns a reason to leave the tool out:
// clients could not call it, could mistake it for another tool, or could reject the whole list
// because of it. The reason is "" if the tool is usable.
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
	if problem := findFlaw(object); problem != "" {
		return t, "the tool " + name + " " + problem
	}
	t = Tool{Name: name, Exposed: toolname.Exposed(prefix, name), Object: object, Definition: wire.Digest(object), Mirrored: parseMirrored(object)}
	if t.Exposed != name {
		t.Object = wire.ReplaceMember(nil, object, "name", rawjson.AppendString(nil, t.Exposed))
	}
	support, _ := rawjson.MemberAt(object, "execution", "taskSupport")
	t.OnlyTask = string(support) == `"required"`
	t.Annotations, _ = rawjson.Member(object, "annotations")
	return t, ""
}

// parseMirrored returns the tool with its schema if some of its arguments must be mirrored in
// headers, and nil otherwise.
func parseMirrored(object []byte) *mcp.Tool {
	schema, _ := rawjson.Member(object, "inputSchema")
	t := &mcp.Tool{RawInputSchema: schema}
	if !bytes.Contains(schema, []byte("x-mcp-header")) || len(mcp.ExtractParamHeaderBindings(t)) == 0 {
		return nil
	}
	return t
}

// findFlaw returns the reason why clients might misinterpret the tool, or reject the whole list
// because of it. It returns "" if the tool has no such flaw.
func findFlaw(object []byte) string {
	_, _, variant := rawjson.Variants(object, "name")
	schema, _ := rawjson.Member(object, "inputSchema")
	switch {
	case variant:
		return "has two name members that differ in case only"
	case rawjson.Kind(schema) != '{':
		return "has no inputSchema object"
	}
	return ""
}

// CrowdWarning returns a warning if n tools are too many for some known clients. Otherwise, it
// returns "".
func CrowdWarning(n int) (warning string) {
	for _, c := range [...]struct {
		more    int
		clients string
	}{
		{40, "Cursor chooses tools less accurately"},
		{100, "Windsurf accepts no more, and Cursor chooses tools less accurately"},
		{128, "VS Code sends no more to a model, including its own, Windsurf accepts 100, and Cursor chooses tools less accurately"},
	} {
		if n > c.more {
			warning = fmt.Sprintf("more than %d tools are listed: %s; leave out unneeded tools with tools.allow and tools.deny of a server", c.more, c.clients)
		}
	}
	return warning
}
