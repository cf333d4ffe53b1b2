package config

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/petrigate/petrigate/internal/text"
)

// A decoder interprets the values of one file. It continues after a problem, so that one run finds
// all of them.
type decoder struct {
	*source
	*environment

	visit func(what string, known Keys) // test hook, called with each table of keys that is used
}

// A Value is one value of a YAML or JSON file. Its methods record every mistake at its position; an
// unknown key is a mistake.
type Value struct {
	*decoder
	*node
	key   *node  // key in the enclosing mapping; for a list entry, that of the list; nil at the root
	what  string // name in messages
	entry bool   // the value is an entry of the list that what names
}

// Keys maps each known key of a mapping to the function that decodes its value.
type Keys map[string]func(Value)

// ReadDocument reads a file that is not a configuration. Positions use name as their file, and
// messages call the root what. [Value.Err] returns the problems.
func ReadDocument(name string, src []byte, what string) Value {
	d := &decoder{source: &source{name: name}}
	root := d.read(src)
	if root == nil {
		root = &node{kind: brokenKind, line: 1, column: 1}
		if len(d.errs) == 0 {
			d.add(1, 1, "the file is empty", "")
		}
	}
	return Value{decoder: d, node: root, what: what}
}

// Err returns an [ErrorList] of all problems found so far in the file, or nil.
func (v Value) Err() error { return v.err() }

// Faults returns the number of problems found so far in the file.
func (v Value) Faults() int { return len(v.errs) }

// Position returns the start of the value.
func (v Value) Position() Position { return v.position(v.node) }

// Fault records a mistake in the value, with a hint for its correction.
func (v Value) Fault(msg, hint string) { v.faultAt(v.node, msg, hint) }

// Fields decodes a mapping with the functions of known, and reports all other keys.
func (v Value) Fields(known Keys) {
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
}

// Each calls f for every entry of a mapping with user-chosen keys.
func (v Value) Each(f func(key string, value Value)) {
	if !v.is(mapKind) {
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

// otherNames maps key names of other programs to ours. Read-only.
var otherNames = map[string]string{
	"servers": "mcpServers", "mcp_servers": "mcpServers", "context_servers": "mcpServers", "extensions": "mcpServers",
	"serverUrl": "url", "httpUrl": "url", "uri": "url", "endpoint": "url",
	"environment": "env", "envs": "env",
	"cmd": "command", "transport": "type", "http_headers": "headers", "enabled": "disabled",
	"initial": "initialMarking", "in": "inputs", "out": "outputs", "callbackPort": "redirectPort",
	"redact": "mask", "values": "arguments", "store": "driver", "database": "path", "connectionString": "dsn", "otlp": "traces", "prometheus": "metrics",
}

// nearestKey returns a hint that suggests one of the known keys, or "".
func nearestKey(name string, known Keys) string {
	if ours := otherNames[name]; known[ours] != nil {
		return fmt.Sprintf("did you mean %q?", ours)
	}
	return text.Suggest(name, slices.Sorted(maps.Keys(known)))
}

// Items calls f for every entry of a list; messages call an entry what.
func (v Value) Items(what string, f func(Value)) {
	if !v.is(listKind) {
		return
	}
	for _, item := range v.items {
		f(Value{decoder: v.decoder, node: item, key: v.key, what: what})
	}
}

// is reports whether the value has the kind, and records a problem if it does not.
func (v Value) is(want kind) bool {
	if v.kind == want {
		return true
	}
	if v.kind == brokenKind {
		return false // the reader has reported it
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

// yesNo maps the YAML 1.1 words for booleans to true and false. Read-only.
var yesNo = map[string]string{"yes": "true", "on": "true", "no": "false", "off": "false", "true": "true", "false": "false"}

// label returns the name of the value in messages about its kind.
func (v Value) label() string {
	if v.entry {
		return "an entry of " + v.what
	}
	return v.what
}

// quoted returns the value for messages, as written in the file: the result of an interpolation may
// be a secret.
func (v Value) quoted() string { return strconv.Quote(v.text) }

// unsupported refuses a key that is reserved for a later version.
func (v Value) unsupported() { v.faultAt(v.key, v.what+" is not supported yet", "") }

// plain reads a text, which may be empty.
func (v Value) plain() (string, bool) { return v.text, v.is(textKind) }

// Text reads a text that is not empty.
func (v Value) Text() (string, bool) {
	if !v.is(textKind) {
		return "", false
	}
	if v.text == "" {
		v.Fault(v.label()+" is empty", "")
		return "", false
	}
	return v.text, true
}

// Texts reads a list of texts, or a single text.
func (v Value) Texts() []string {
	if v.kind == textKind {
		return []string{v.text}
	}
	all, _ := each(Value.Text)(v)
	return all
}

// Word reads one of the given words.
func (v Value) Word(words ...string) (string, bool) { return oneOf(words)(v) }

// IsText reports whether the value is a text.
func (v Value) IsText() bool { return v.kind == textKind }

// IsNumber reports whether the value is a number.
func (v Value) IsNumber() bool { return v.kind == numberKind }

// Flag reads true or false.
func (v Value) Flag() (on, ok bool) { return v.text == "true", v.is(boolKind) }

// Count reads a non-negative whole number.
func (v Value) Count() (int, bool) { return whole(0, math.MaxInt32)(v) }

// whole reads a whole number from least to most, written as in JSON and without a sign.
func whole(least, most int) func(Value) (int, bool) {
	return func(v Value) (int, bool) {
		if !v.is(numberKind) {
			return 0, false
		}
		n, err := strconv.Atoi(v.text)
		if err != nil || n < least || n > most || strconv.Itoa(n) != v.text {
			v.Fault(fmt.Sprintf("%s must be a whole number from %d to %d", v.what, least, most), "")
			return 0, false
		}
		return n, true
	}
}

// positive reads a limit of at least 1; a limit of 0 would block everything.
func (v Value) positive() (int, bool) {
	n, ok := v.Count()
	if ok && n == 0 {
		v.Fault(v.what+" must be 1 or more", "")
	}
	return n, ok
}

// integer reads a whole number, which may be negative.
func (v Value) integer() (int, bool) {
	if !v.is(numberKind) {
		return 0, false
	}
	n, err := strconv.ParseInt(v.text, 10, 32)
	if err != nil {
		v.Fault(v.what+" must be a whole number", "")
	}
	return int(n), err == nil
}

// Duration reads a duration such as "2m30s".
func (v Value) Duration() (time.Duration, bool) {
	if !v.is(textKind) {
		return 0, false
	}
	t, ok := duration(v.text)
	if !ok {
		v.Fault(fmt.Sprintf("%s: %s is not a duration", v.what, v.quoted()), "for example 2m30s")
	}
	return t, ok
}

// duration parses a duration that is not negative.
func duration(text string) (time.Duration, bool) {
	t, err := time.ParseDuration(text)
	return t, err == nil && t >= 0
}

// units lists the units of sizes. A unit stands before its suffixes. Read-only.
var units = []struct {
	name  string
	bytes int64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"B", 1}}

// size reads a number of bytes with a unit, at least least and less than 2 GiB.
func size(least int) func(Value) (int, bool) {
	return func(v Value) (int, bool) {
		n, ok := sizeUpTo(int64(least), math.MaxInt32)(v)
		return int(n), ok
	}
}

// sizeUpTo reads a number of bytes with a unit, from least to most.
func sizeUpTo(least, most int64) func(Value) (int64, bool) {
	return func(v Value) (int64, bool) {
		if !v.requireUnit("MiB") {
			return 0, false
		}
		text, ok := v.setting()
		if !ok {
			return 0, false
		}
		n, ok := sizeOf(text, most)
		switch {
		case !ok:
			v.Fault(fmt.Sprintf("%s: %s is not a size", v.what, v.quoted()), `for example "4MiB"`)
		case n < least:
			v.Fault(fmt.Sprintf("%s must be %d bytes or more", v.what, least), "")
		}
		return n, ok
	}
}

// sizeOf parses a whole number with a unit.
func sizeOf(text string, most int64) (int64, bool) {
	for _, unit := range units {
		digits, ok := strings.CutSuffix(text, unit.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseUint(strings.TrimSuffix(digits, " "), 10, 63)
		return int64(n) * unit.bytes, err == nil && int64(n) <= most/unit.bytes
	}
	return 0, false
}

// setting reads a text and replaces ${...} in it.
func (v Value) setting() (string, bool) {
	if !v.is(textKind) {
		return "", false
	}
	before := v.skippedCount()
	text, bad := v.expand(v.text)
	if bad != nil {
		line, column := v.find(v.node, bad.expr)
		v.add(line, column, bad.msg, bad.hint)
		return "", false
	}
	if v.skippedCount() > before {
		v.unresolved = true
		return text, true
	}
	if strings.ContainsRune(text, 0) {
		v.Fault("the value contains a NUL byte", "")
		return "", false
	}
	return text, true
}

// A check returns the problem of a text, or "". what names the key, and shown is the text as
// written in the file.
type check func(what, shown, text string) (msg, hint string)

func (v Value) passes(text string, c check) bool {
	msg, hint := c(v.what, v.quoted(), text)
	if msg != "" {
		v.Fault(msg, hint)
	}
	return msg == ""
}

// checked reads a text, replaces ${...} in it, and applies the checks.
func checked(checks ...check) func(Value) (string, bool) {
	return func(v Value) (string, bool) {
		text, ok := v.setting()
		for _, c := range checks {
			ok = ok && v.passes(text, c)
		}
		return text, ok
	}
}

// oneOf reads one of the words; later lists words that are reserved for later versions.
func oneOf(words []string, later ...string) func(Value) (string, bool) {
	return func(v Value) (string, bool) {
		if !v.is(textKind) || !v.passes(v.text, checkWord(words, later...)) {
			return "", false
		}
		return v.text, true
	}
}

func checkWord(words []string, later ...string) check {
	return func(what, shown, word string) (msg, hint string) {
		switch {
		case slices.Contains(words, word):
			return "", ""
		case slices.Contains(later, word):
			return fmt.Sprintf("%s: %s is not supported yet", what, shown), "now: " + strings.Join(words, ", ")
		}
		return fmt.Sprintf("%s: %s is not known", what, shown), cmp.Or(text.Suggest(word, words), "one of: "+strings.Join(words, ", "))
	}
}

func checkNotEmpty(what, _, text string) (msg, hint string) {
	if text == "" {
		return what + " is empty", ""
	}
	return "", ""
}

// into returns a decoder function that stores the result of read in to.
func into[T any](to *T, read func(Value) (T, bool)) func(Value) {
	return func(v Value) {
		if x, ok := read(v); ok {
			*to = x
		}
	}
}

// each reads a list by reading each of its entries.
func each[T any](read func(Value) (T, bool)) func(Value) ([]T, bool) {
	return func(v Value) ([]T, bool) {
		if !v.is(listKind) {
			return nil, false
		}
		list := make([]T, 0, len(v.items))
		for _, item := range v.items {
			if x, ok := read(Value{v.decoder, item, v.key, v.what, true}); ok {
				list = append(list, x)
			}
		}
		return list, true
	}
}

// nonEmpty refuses an empty list.
func nonEmpty[T any](read func(Value) ([]T, bool)) func(Value) ([]T, bool) {
	return func(v Value) ([]T, bool) {
		if v.kind == listKind && len(v.items) == 0 {
			v.Fault(v.what+" is empty", "leave the key out")
		}
		return read(v)
	}
}

// as returns v with another name in messages.
func (v Value) as(what string) Value { return Value{v.decoder, v.node, v.key, what, false} }

// needs reports missing keys of a mapping.
func (v Value) needs(names ...string) {
	for _, name := range names {
		if v.kind == mapKind && v.get(name) == nil {
			v.Fault(fmt.Sprintf("%s needs %q", v.what, name), "")
		}
	}
}

// Object returns a mapping as a JSON object, with keys in file order and numbers as written.
func (v Value) Object() (json.RawMessage, bool) {
	if !v.is(mapKind) {
		return nil, false
	}
	before := v.Faults()
	text := v.appendJSON(nil)
	return text, v.Faults() == before
}

// JSON returns any value as JSON, in the form of [Value.Object].
func (v Value) JSON() (json.RawMessage, bool) {
	before := v.Faults()
	text := v.appendJSON(nil)
	return text, v.Faults() == before
}

// appendJSON appends the value as JSON.
func (v Value) appendJSON(to []byte) []byte {
	switch v.kind {
	case mapKind:
		to = append(to, '{')
		v.Each(func(key string, value Value) { to = append(value.appendJSON(append(appendText(to, key), ':')), ',') })
		return append(bytes.TrimSuffix(to, []byte(",")), '}')
	case listKind:
		to = append(to, '[')
		for _, item := range v.items {
			to = append(Value{decoder: v.decoder, node: item}.appendJSON(to), ',')
		}
		return append(bytes.TrimSuffix(to, []byte(",")), ']')
	case textKind:
		return appendText(to, v.text)
	case numberKind:
		if !json.Valid([]byte(v.text)) {
			v.Fault(fmt.Sprintf("%q is not a JSON number", v.text), "put it in quotes, or write it as JSON does")
		}
		return append(to, v.text...)
	case boolKind:
		return append(to, v.text...)
	default:
		return append(to, "null"...)
	}
}

func appendText(to []byte, text string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		panic(err) // cannot happen for a string
	}
	return append(to, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...)
}
