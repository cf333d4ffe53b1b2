package config

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/petrigate/petrigate/internal/text"
)

// A decoder interprets the values in a file. After a problem it continues, so that all problems are
// reported at once.
type decoder struct {
	*source
	*environment

	visit func(what string, known Keys) // if not nil, called with a mapping's known keys before the mapping is decoded; set only by tests
}

// A Value is a value in a YAML or JSON file. Its methods record every mistake, including unknown
// keys, with its position.
type Value struct {
	*decoder
	*node
	key   *node  // key in the enclosing mapping; for a list entry, key of the list; nil at the root
	what  string // name of the value in messages; if entry is true, name of the list that contains the value
	entry bool   // whether messages call the value an entry of a list
}

// Keys maps each known key of a mapping to the function that decodes its value.
type Keys map[string]func(Value)

// ReadDocument reads a file that is not a configuration. name is the file name used in positions,
// and title is the name of the root in messages. [Value.Err] returns the problems.
func ReadDocument(name string, src []byte, title string) Value {
	d := &decoder{source: &source{name: name}}
	root := d.read(src)
	if root == nil {
		root = &node{kind: brokenKind, line: 1, column: 1}
		if len(d.errs) == 0 {
			d.add(1, 1, "the file is empty", "")
		}
	}
	return Value{decoder: d, node: root, what: title}
}

// Err returns an [ErrorList] of all problems found in the file so far, or nil if none were found.
func (v Value) Err() error { return v.err() }

// Faults returns the number of problems found in the file so far.
func (v Value) Faults() int { return len(v.errs) }

// Position returns the position where the value begins.
func (v Value) Position() Position { return v.position(v.node) }

// Fault records a mistake in the value, with a hint on how to correct it.
func (v Value) Fault(msg, hint string) { v.faultAt(v.node, msg, hint) }

// Fields decodes a mapping by calling the functions in known for its keys. It records an unknown
// key as a mistake. It reports whether the mapping is free of mistakes.
func (v Value) Fields(known Keys) (ok bool) {
	before := v.Faults()
	if v.visit != nil {
		v.visit(v.what, known)
	}
	v.Each(func(name string, value Value) {
		if set, ok := known[name]; ok {
			set(value)
		} else {
			v.faultAt(value.key, fmt.Sprintf("unknown key %q in %s", name, v.what), nearestKey(name, known))
		}
	})
	return v.Faults() == before
}

// Each calls f for every entry of a mapping in file order. It reports duplicate keys as mistakes.
func (v Value) Each(f func(key string, value Value)) {
	if !v.hasKind(mapKind) {
		return
	}
	seen := make(map[string]*node, len(v.fields))
	for _, entry := range v.fields {
		key := entry.key
		if first := seen[key.text]; first != nil {
			v.faultAt(key, fmt.Sprintf("duplicate key %q", key.text), firstAt(v.position(first)))
			continue
		}
		seen[key.text] = key
		f(key.text, Value{decoder: v.decoder, node: entry.value, key: key, what: strconv.Quote(key.text)})
	}
}

func firstAt(p Position) string { return fmt.Sprintf("the first is at %d:%d", p.Line, p.Column) }

// otherNames maps words that people might write instead of petrigate's keys, such as the keys of
// other programs, to the correct keys. It is read-only.
var otherNames = map[string]string{
	"servers": "mcpServers", "upstreams": "mcpServers", "upstream": "mcpServers", "mcp_servers": "mcpServers", "context_servers": "mcpServers", "extensions": "mcpServers",
	"serverUrl": "url", "httpUrl": "url", "uri": "url", "endpoint": "url",
	"environment": "env", "envs": "env",
	"cmd": "command", "transport": "type", "http_headers": "headers", "enabled": "disabled",
	"initial": "initialMarking", "in": "inputs", "out": "outputs", "callbackPort": "redirectPort",
	"redact": "mask", "values": "arguments", "store": "driver", "database": "path", "connectionString": "dsn", "otlp": "traces", "prometheus": "metrics",
}

// nearestKey returns a hint that suggests a known key, or the empty string if none of them is
// similar.
func nearestKey(name string, known Keys) string {
	if ours := otherNames[name]; known[ours] != nil {
		return fmt.Sprintf("did you mean %q?", ours)
	}
	return text.Suggest(name, slices.Sorted(maps.Keys(known)))
}

// Items calls f for every entry of a list. Messages refer to an entry by the given name.
func (v Value) Items(name string, f func(Value)) {
	if !v.hasKind(listKind) {
		return
	}
	for _, item := range v.items {
		f(Value{decoder: v.decoder, node: item, key: v.key, what: name})
	}
}

// hasKind reports whether the value has the given kind. If not, it records a problem.
func (v Value) hasKind(want kind) bool {
	if v.kind == want {
		return true
	}
	if v.kind == brokenKind {
		return false // already reported by the reader
	}
	hint := ""
	if want == textKind && (v.kind == numberKind || v.kind == boolKind) {
		hint = "put it in quotes"
	}
	if word, ok := yesNo[strings.ToLower(v.text)]; ok && want == boolKind && v.kind == textKind {
		hint = "write " + word
	}
	v.Fault(fmt.Sprintf("%s must be %s, not %s", v.label(), want, v.kind), hint)
	return false
}

// yesNo maps the YAML 1.1 words for booleans to true and false. It is read-only.
var yesNo = map[string]string{"yes": "true", "on": "true", "no": "false", "off": "false", "true": "true", "false": "false"}

// label returns the name of the value in messages. For an entry of a list, the name is "an entry
// of" followed by the name of the list.
func (v Value) label() string {
	if v.entry {
		return "an entry of " + v.what
	}
	return v.what
}

// quoted returns the value in quotes, as written in the file, for use in messages. It never shows a
// value that replaced a ${...}, which may be a secret.
func (v Value) quoted() string { return strconv.Quote(v.text) }

// unsupported rejects a key that is reserved for a later version.
func (v Value) unsupported() { v.faultAt(v.key, v.what+" is not supported yet", "") }

// named returns a copy of v with another name for messages.
func (v Value) named(what string) Value { return Value{v.decoder, v.node, v.key, what, false} }

// needs reports an error for each of the given keys that the mapping lacks.
func (v Value) needs(names ...string) {
	for _, name := range names {
		if v.kind == mapKind && v.get(name) == nil {
			v.Fault(fmt.Sprintf("%s needs %q", v.what, name), "")
		}
	}
}

// requireUnit rejects a number without a unit and suggests the unit.
func (v Value) requireUnit(unit string) bool {
	if v.kind == numberKind {
		v.Fault(v.what+" needs a unit", fmt.Sprintf("for example %q", v.text+unit))
	}
	return v.kind != numberKind
}

// requires reports an error for each of the given keys that the mapping lacks. The error has the
// position of the mapping's own key, and its hint is the example.
func (v Value) requires(example string, keys ...string) {
	for _, key := range keys {
		if v.get(key) == nil {
			v.faultAt(v.key, fmt.Sprintf("%s requires %q", v.what, key), example)
		}
	}
}
