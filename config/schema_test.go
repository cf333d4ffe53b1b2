package config

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/petrigate/petrigate/internal/channel"
)

// definitions maps the decoder's section names to definitions in the schema.
var definitions = map[string]string{
	"the configuration": "configuration", "a server": "server", "a net": "net", "a transition": "transition",
	`an entry of "extends"`: "extendsEntry", `an entry of "rules"`: "ruleEntry", `an entry of "nets"`: "netEntry", `an entry of "map"`: "mapEntry", `an entry of "key"`: "keyEntry",
	`an entry of "validate"`: "validator", `an entry of "remember"`: "memory",
	`"listen"`: "listen", `"jwt"`: "jwt", `"oauth"`: "oauth", `"tls"`: "tls", `"timeouts"`: "timeouts", `"approval"`: "approval", `"webhook"`: "webhook", `"audit"`: "audit", `"log"`: "log", `"session"`: "session", `"state"`: "state", `"telemetry"`: "telemetry", `"console"`: "console", `"pinning"`: "pinning", `"shell"`: "shell", `"rotate"`: "rotate",
	`"tools"`: "toolFilter", `"tls" of a server`: "serverTLS", `"limits"`: "serverLimits",
}

// everywhere is a configuration that uses every table of keys in the decoder.
const everywhere = `
mcpServers: { a: { command: x, oauth: {}, tools: {}, tls: {}, limits: {} } }
extends: [ {} ]
rules: [ { inline: block rm } ]
nets: [ { inline: { name: n, key: [ {} ], transitions: [ {} ], map: [ {} ], validate: [ {} ], remember: [ {} ] } } ]
listen: { jwt: {}, tls: {}, timeouts: {} }
approval: { webhook: {} }
audit: { rotate: {} }
log: {}
session: {}
state: {}
telemetry: {}
console: {}
pinning: {}
shell: {}
`

// TestSchemaKeys compares the keys in the schema with those of the decoder.
func TestSchemaKeys(t *testing.T) {
	var doc struct {
		Defs map[string]struct{ Properties map[string]any } `json:"$defs"`
	}
	if err := json.Unmarshal([]byte(Schema()), &doc); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	d := &decoder{source: &source{name: "f"}, environment: &environment{lookup: from(nil)}}
	d.visit = func(what string, known Keys) {
		name, ok := definitions[what]
		if !ok {
			t.Errorf("the schema has nothing for %s", what)
			return
		}
		seen[name] = true
		if diff := cmp.Diff(supported(known), slices.Sorted(maps.Keys(doc.Defs[name].Properties))); diff != "" {
			t.Errorf("%s: -decoder +schema\n%s", what, diff)
		}
	}
	readRoot(Value{decoder: d, node: d.read([]byte(everywhere)), what: "the configuration"}, &Config{}, newLayers())
	for name, def := range doc.Defs {
		if def.Properties != nil && !seen[name] {
			t.Errorf("the decoder has no keys for %s", name)
		}
	}
}

// TestSchemaChannels compares the channels in the schema with the table of channels.
func TestSchemaChannels(t *testing.T) {
	var doc struct {
		Defs struct{ Channel struct{ Enum []string } } `json:"$defs"`
	}
	if err := json.Unmarshal([]byte(Schema()), &doc); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(channel.Names(func(channel.Channel) bool { return true }), doc.Defs.Channel.Enum); diff != "" {
		t.Errorf("-table +schema\n%s", diff)
	}
}

// supported returns the keys that are not reserved for a later version.
func supported(known Keys) []string {
	var names []string
	for name, set := range known {
		if f := runtime.FuncForPC(reflect.ValueOf(set).Pointer()).Name(); !strings.Contains(f, "unsupported") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func compiled(t *testing.T, text string) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("mem:schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("mem:schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// value converts a node to the form that the validator expects.
func (n *node) value() any {
	switch n.kind {
	case mapKind:
		m := make(map[string]any, len(n.fields))
		for _, f := range n.fields {
			m[f.key.text] = f.value.value()
		}
		return m
	case listKind:
		list := []any{}
		for _, item := range n.items {
			list = append(list, item.value())
		}
		return list
	case textKind:
		return n.text
	case boolKind:
		return n.text == "true"
	case numberKind:
		return json.Number(n.text)
	}
	return nil
}

func valueOf(src []byte) (any, bool) {
	s := &source{name: "f"}
	n := s.read(src)
	if n == nil || len(s.errs) > 0 {
		return nil, false
	}
	return n.value(), true
}

// misshapen matches golden archives that contain a mistake that a schema can detect.
var misshapen = regexp.MustCompile(`(?m)^petrigate\.yaml:[0-9:]+ (unknown key .*|.* must be (a list|a mapping|text|true or false|a number), not .*)$`)

// TestSchemaGoldens validates the golden archives: files that can be loaded must be valid, and
// files with an unknown key or value must not be.
func TestSchemaGoldens(t *testing.T) {
	schema := compiled(t, Schema())
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no goldens: %v", err)
	}
	checked := map[bool]int{}
	for _, path := range paths {
		if strings.Contains(path, "client-file") { // the schema describes petrigate's files, not those of clients
			continue
		}
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var src, want string
		for _, f := range archive.Files {
			switch f.Name {
			case "petrigate.yaml":
				src = string(f.Data)
			case "want":
				want = string(f.Data)
			}
		}
		v, ok := valueOf([]byte(src))
		if !ok {
			continue
		}
		err = schema.Validate(v)
		loads := strings.Contains(want, "\"File\": \"petrigate.yaml\"")
		wrong := misshapen.MatchString(want)
		switch {
		case loads && err != nil:
			t.Errorf("%s loads, and the schema refuses it: %v", path, err)
		case !loads && wrong && err == nil:
			t.Errorf("%s does not load, and the schema takes it", path)
		case loads || wrong:
			checked[loads]++
		}
	}
	if checked[true] < 7 || checked[false] < 7 {
		t.Errorf("checked %v", checked)
	}
}

// TestSchemaExamples validates the examples, and each example with one misspelt key.
func TestSchemaExamples(t *testing.T) {
	for pattern, text := range map[string]string{"../examples/*/petrigate.yaml": Schema(), "../examples/*/*.net.yaml": NetSchema()} {
		schema := compiled(t, text)
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			t.Fatalf("no examples: %v", err)
		}
		for _, path := range paths {
			src, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			v, ok := valueOf(src)
			if !ok {
				t.Fatalf("%s cannot be read", path)
			}
			if err := schema.Validate(v); err != nil {
				t.Errorf("%s: %v", path, err)
			}
			eachMisspelt(v, func(key string) {
				if schema.Validate(v) == nil {
					t.Errorf("%s: the schema takes %q", path, key)
				}
			})
		}
	}
}

// eachMisspelt misspells the keys one at a time, except for keys that users choose.
func eachMisspelt(v any, check func(key string)) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			eachMisspelt(item, check)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			value := v[key]
			switch key {
			case "mcpServers", "env", "headers", "initialMarking", "recovery", "holds":
				continue
			}
			delete(v, key)
			v[key+"x"] = value
			check(key + "x")
			delete(v, key+"x")
			v[key] = value
			eachMisspelt(value, check)
		}
	}
}
