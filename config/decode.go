package config

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/petrigate/petrigate/internal/text"
)

// A decoder interprets the values of one file. It continues after a problem, so
// that one run finds all of them. Its methods read values of any key; a section is
// read by a function of its own: readListen, readServer, readNet.
type decoder struct {
	*source
	*environment

	visit func(what string, known keys) // of a test: told each table of keys that is used
}

// keys maps each key of a mapping to its function. Other keys are mistakes.
type keys map[string]func(key, value *node)

// mapping calls the function of each key of n.
func (d *decoder) mapping(n *node, what string, known keys) {
	if d.visit != nil {
		d.visit(what, known)
	}
	if !d.is(n, mapKind, what) {
		return
	}
	seen := make(map[string]*node, len(n.fields))
	for _, f := range n.fields {
		name := f.key.text
		if earlier := seen[name]; earlier != nil {
			d.duplicate(f.key, earlier)
			continue
		}
		seen[name] = f.key
		set, ok := known[name]
		if !ok {
			d.at(f.key, fmt.Sprintf("unknown key %q in %s", name, what), hint(name, known))
			continue
		}
		set(f.key, f.value)
	}
}

// foreign maps the words of other programs to our keys.
func foreign(name string) string {
	switch name {
	case "servers", "mcp_servers", "context_servers", "extensions":
		return "mcpServers"
	case "serverUrl", "httpUrl", "uri", "endpoint":
		return "url"
	case "environment", "envs":
		return "env"
	case "cmd":
		return "command"
	case "transport":
		return "type"
	case "http_headers":
		return "headers"
	case "enabled":
		return "disabled"
	case "initial":
		return "initialMarking"
	case "in":
		return "inputs"
	case "out":
		return "outputs"
	case "callbackPort":
		return "redirectPort"
	}
	return ""
}

func hint(name string, known keys) string {
	if ours := foreign(name); ours != "" && known[ours] != nil {
		return fmt.Sprintf("did you mean %q?", ours)
	}
	return text.Suggest(name, slices.Sorted(maps.Keys(known)))
}

func (d *decoder) duplicate(key, earlier *node) {
	d.at(key, fmt.Sprintf("duplicate key %q", key.text), fmt.Sprintf("the first is at %d:%d", earlier.line, earlier.column))
}

// each calls f for every entry of a mapping whose keys the user chooses.
func (d *decoder) each(n *node, what string, f func(key, value *node)) {
	if !d.is(n, mapKind, what) {
		return
	}
	seen := make(map[string]*node, len(n.fields))
	for _, entry := range n.fields {
		if earlier := seen[entry.key.text]; earlier != nil {
			d.duplicate(entry.key, earlier)
			continue
		}
		seen[entry.key.text] = entry.key
		f(entry.key, entry.value)
	}
}

// is checks the kind of a value and records what is wrong with it.
func (d *decoder) is(n *node, want kind, what string) bool {
	if n.kind == want {
		return true
	}
	if n.kind == brokenKind {
		return false // the reader has said why
	}
	hint := ""
	if want == textKind && (n.kind == numberKind || n.kind == boolKind) {
		hint = "put it in quotes"
	}
	if word, ok := yesNo[strings.ToLower(n.text)]; ok && want == boolKind && n.kind == textKind {
		hint = "write " + word
	}
	d.at(n, fmt.Sprintf("%s must be %s, not %s", what, want, n.kind), hint)
	return false
}

// yesNo are the words that mean true and false in YAML 1.1. Read-only.
var yesNo = map[string]string{"yes": "true", "on": "true", "no": "false", "off": "false", "true": "true", "false": "false"}

// later refuses a key that a later version will support.
func (d *decoder) later(key, _ *node) {
	d.at(key, fmt.Sprintf("%q is not supported yet", key.text), "")
}

// The functions below are entries of keys: they set a field from a value.

func (d *decoder) text(to *string) func(key, value *node) {
	return func(key, value *node) {
		if d.is(value, textKind, quoted(key)) {
			*to = value.text
		}
	}
}

// filled reads a text that must not be empty.
func (d *decoder) filled(to *string) func(key, value *node) {
	return func(key, value *node) {
		d.text(to)(key, value)
		if value.kind == textKind && value.text == "" {
			d.at(value, fmt.Sprintf("%s is empty", quoted(key)), "")
		}
	}
}

// setting reads a text and replaces ${...} in it.
func (d *decoder) setting(to *string) func(key, value *node) {
	return func(key, value *node) {
		if d.is(value, textKind, quoted(key)) {
			*to = d.interpolated(value)
		}
	}
}

func (d *decoder) flag(to *bool) func(key, value *node) {
	return func(key, value *node) {
		if d.is(value, boolKind, quoted(key)) {
			*to = value.text == "true"
		}
	}
}

func (d *decoder) list(to *[]string) func(key, value *node) {
	return func(key, value *node) {
		*to = []string{}
		d.items(key, value, func(item *node) { *to = append(*to, item.text) })
	}
}

// settings reads a list of texts and replaces ${...} in them.
func (d *decoder) settings(to *[]string) func(key, value *node) {
	return func(key, value *node) {
		d.items(key, value, func(item *node) { *to = append(*to, d.interpolated(item)) })
	}
}

func (d *decoder) items(key, value *node, f func(*node)) {
	if !d.is(value, listKind, quoted(key)) {
		return
	}
	for _, item := range value.items {
		if d.is(item, textKind, "an entry of "+quoted(key)) {
			f(item)
		}
	}
}

// oneOf reads one of a few words; later lists words that are not supported yet.
func (d *decoder) oneOf(to *string, words, later []string) func(key, value *node) {
	return func(key, value *node) {
		if d.is(value, textKind, quoted(key)) && d.word(key, value, value.text, words, later) {
			*to = value.text
		}
	}
}

func (d *decoder) word(key, value *node, word string, words, later []string) bool {
	if slices.Contains(words, word) {
		return true
	}
	msg, hint := unknownWord(quoted(key), shown(value), word, words, later)
	d.at(value, msg, hint)
	return false
}

// unknownWord returns the message and the hint for a word that is not in words.
func unknownWord(what, shown, word string, words, later []string) (msg, hint string) {
	if slices.Contains(later, word) {
		return fmt.Sprintf("%s: %s is not supported yet", what, shown), "now: " + strings.Join(words, ", ")
	}
	hint = text.Suggest(word, words)
	if hint == "" {
		hint = "one of: " + strings.Join(words, ", ")
	}
	return fmt.Sprintf("%s: %s is not known", what, shown), hint
}

// count reads a non-negative whole number.
func (d *decoder) count(n *node, what string) (int, bool) {
	if !d.is(n, numberKind, what) {
		return 0, false
	}
	v, err := strconv.ParseInt(n.text, 10, 32)
	if err != nil || v < 0 || n.text[0] == '+' || (n.text[0] == '0' && n.text != "0") {
		d.at(n, fmt.Sprintf("%s must be a whole number from 0 to 2147483647", what), "")
		return 0, false
	}
	return int(v), true
}

// integer reads a whole number of either sign.
func (d *decoder) integer(to *int) func(key, value *node) {
	return func(key, value *node) {
		if !d.is(value, numberKind, quoted(key)) {
			return
		}
		v, err := strconv.ParseInt(value.text, 10, 32)
		if err != nil {
			d.at(value, quoted(key)+" must be a whole number", "")
		}
		*to = int(v)
	}
}

// duration reads a positive duration with a unit.
func duration(text string) (time.Duration, bool) {
	v, err := time.ParseDuration(text)
	return v, err == nil && v >= 0
}

// quoted formats a key for messages.
func quoted(key *node) string { return fmt.Sprintf("%q", key.text) }

// shown formats a value for messages, as it is in the file: the result of an
// interpolation may be a secret.
func shown(value *node) string { return fmt.Sprintf("%q", value.text) }
