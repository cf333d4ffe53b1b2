package starter

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/rules"
)

// argumentSchemas lists argument schemas with the arguments that proposals read and that certainly
// exist. If a schema is open, it is uncertain whether an argument that it does not list exists.
var argumentSchemas = []struct{ schema, have string }{
	{``, ""},
	{`null`, ""},
	{`true`, ""},
	{`{}`, ""},
	{`{"type":"object","properties":{}}`, ""},
	{`{"type":"object","properties":{},"additionalProperties":false}`, ""},
	{`{"properties":{},"required":["path","amount","channel","url","id"]}`, ""},
	{`{"properties":{"note":{"type":"string","title":"path"}},"required":["note","path"],"additionalProperties":false}`, ""},
	{`{"$ref":"#/$defs/a","$defs":{"a":{"properties":{"path":{"type":"string"}},"required":["path"]}},"required":["path"]}`, ""},
	{`{"anyOf":[{"properties":{"path":{"type":"string"}},"required":["path"]},{"properties":{"amount":{"type":"number"}}}]}`, ""},
	{`{"properties":{"options":{"type":"object","properties":{"path":{"type":"string"},"amount":{"type":"number"}},"required":["path"]}},"required":["options"]}`, ""},
	{`{"properties":{"path":false,"amount":false,"id":false},"required":["path","id"],"additionalProperties":false}`, ""},
	{`{"Properties":{"path":{"type":"string"},"amount":{"type":"number"},"paths":{"type":"array","items":{"type":"string"}}},"required":["path"],"additionalProperties":false}`, ""},
	{`{"properties":{"Path":{"type":"string"},"AMOUNT":{"type":"number"}},"required":["path"],"additionalProperties":false}`, "Path AMOUNT"},
	{`{"properties":{"path":{"type":"string"}},"required":["path"],"additionalProperties":false}`, "path"},
	{`{"properties":{"path":{"type":"string"},"amount":{"type":"integer"}},"required":["path"]}`, "path amount"},
	{`{"properties":{"source":{"type":"string"},"destination":{"type":"string"}},"required":["source","destination"]}`, "source destination"},
	{`{"properties":{"file_path":{"anyOf":[{"type":"string"},{"type":"null"}]}}}`, "file_path"},
	{`{"properties":{"path":{"$ref":"#/$defs/p"}},"required":["path"],"$defs":{"p":{"type":"string"}}}`, "path"},
	{`{"properties":{"channel":{"type":"string"},"text":{"type":"string"}},"required":["channel","text"],"additionalProperties":false}`, "channel"},
	{`{"properties":{"owner":{"type":"string"},"repo":{"type":"string"}},"required":["owner","repo"]}`, "owner repo"},
	{`{"properties":{"files":{"type":"array","items":{"type":"object","properties":{"path":{"type":"string"}}}}}}`, "files $.files[*].path"},
	{`{"properties":{"files":{"type":"array","items":{"type":"object","Properties":{"path":{"type":"string"}}}}}}`, "files"},
	{`{"properties":{"url":{"type":"string"},"id":{"type":"string"}},"required":["url","id"]}`, "url id"},
}

// TestProposedArgumentsExist checks that, whatever the schemas of a tool and its reader are, no
// proposed rule, map or claim names an argument that the tool does not have, and that existing
// arguments are used.
func TestProposedArgumentsExist(t *testing.T) {
	c := load(t, []byte("version: 1\nmcpServers: { a: { command: ./a } }\ndefault: allow\n"))
	changing := []string{"edit_thing", "delete_thing", "pay_thing", "send_thing"}
	read := map[string]bool{}
	for _, reader := range argumentSchemas {
		var tools []check.ListedTool
		have := map[string][]string{}
		list := func(name, schema, fields string) {
			tools = append(tools, check.ListedTool{Exposed: "a_" + name, Bare: name, Canonical: "a." + name, InputSchema: json.RawMessage(schema)})
			have["a_"+name] = strings.Fields(fields)
		}
		list("read_thing", reader.schema, reader.have)
		for i, s := range argumentSchemas {
			for _, verb := range changing {
				list(verb+strings.Repeat("s", i), s.schema, s.have)
			}
		}
		p := &proposal{servers: guess(tools, c.Servers)}
		p.propose()
		file, errs := rules.Parse(FileName, []byte(p.text()))
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		for _, s := range file.Statements {
			for _, r := range readings(s) {
				read[r.field] = true
				if !r.there(have) {
					t.Errorf("reader %s: %s reads %s of %q, which does not have it", reader.schema, s, r.field, r.tool)
				}
			}
		}
	}
	for _, field := range []string{"path", "source", "owner", "channel", "amount", "$.files[*].path"} {
		if !read[field] {
			t.Errorf("no proposal reads %s", field)
		}
	}
}

// A reading is a field that a statement reads from a tool's calls. The tool "*" stands for all
// tools that have the field.
type reading struct{ tool, field string }

func (r reading) there(have map[string][]string) bool {
	for name, fields := range have {
		if (r.tool == name || r.tool == "*") && slices.Contains(fields, r.field) {
			return true
		}
	}
	return false
}

// readings returns all readings of a statement.
func readings(s rules.Statement) (all []reading) {
	each := func(names []rules.Name, field string) {
		for _, n := range names {
			all = append(all, reading{n.Text, field})
		}
	}
	keys := func(key []rules.KeyField, restricted, earning []rules.Name) {
		for _, k := range key {
			each(restricted, k.Field.Text)
			each(earning, k.Other.Text)
		}
	}
	switch s := s.(type) {
	case *rules.Require:
		keys(s.Key, s.Before, s.First)
	case *rules.Prove:
		keys(s.Key, s.Tools, s.Others)
	case *rules.Limit:
		keys(s.Key, s.Tools, nil)
		if s.Of != nil {
			each(s.Tools, s.Of.Text)
		}
	case *rules.Map:
		each(s.Tools, s.Field)
	}
	return all
}
