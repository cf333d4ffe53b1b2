package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// A Document is a YAML or JSON file of another kind than a configuration. It is
// read as strictly: every mistake has its place, all are found in one run, and
// an unknown key is one. The functions of its values record what they find, and
// [Document.Err] tells it.
type Document struct {
	decoder decoder
	root    *node
}

// ReadDocument reads one document; name is the file of the positions.
func ReadDocument(name string, src []byte) *Document {
	d := &Document{decoder: decoder{source: &source{name: name}}}
	if d.root = d.decoder.read(src); d.root == nil {
		d.root = &node{kind: brokenKind, line: 1, column: 1}
		if len(d.decoder.errs) == 0 {
			d.decoder.add(1, 1, "the file is empty", "")
		}
	}
	return d
}

// Root returns the whole document as a value; what names it in messages.
func (d *Document) Root(what string) Value { return Value{d, d.root, what} }

// Err returns an [ErrorList] of all problems found so far, or nil.
func (d *Document) Err() error {
	if len(d.decoder.errs) == 0 {
		return nil
	}
	d.decoder.errs.Sort()
	return d.decoder.errs
}

// Faults counts the problems found so far.
func (d *Document) Faults() int { return len(d.decoder.errs) }

// A Value is one value of a [Document].
type Value struct {
	document *Document
	node     *node
	what     string // how messages call it
}

// Keys has a function for the value of each key of a mapping.
type Keys map[string]func(Value)

// Position returns the start of the value.
func (v Value) Position() Position { return v.document.decoder.position(v.node) }

// Fault records a mistake in the value, and what to write instead.
func (v Value) Fault(msg, hint string) { v.document.decoder.at(v.node, msg, hint) }

// Fields calls the functions of known with the values of a mapping. Other keys are
// mistakes.
func (v Value) Fields(known Keys) {
	fields := make(keys, len(known))
	for name, f := range known {
		fields[name] = func(key, value *node) { f(Value{v.document, value, quoted(key)}) }
	}
	v.document.decoder.mapping(v.node, v.what, fields)
}

// Each calls f for every entry of a mapping whose keys the user chooses.
func (v Value) Each(f func(key string, value Value)) {
	v.document.decoder.each(v.node, v.what, func(key, value *node) { f(key.text, Value{v.document, value, quoted(key)}) })
}

// Items calls f for every entry of a list; what names an entry in messages.
func (v Value) Items(what string, f func(Value)) {
	if !v.is(listKind) {
		return
	}
	for _, item := range v.node.items {
		f(Value{v.document, item, what})
	}
}

// Texts reads a list of texts, or one text.
func (v Value) Texts() (all []string) {
	if v.node.kind == textKind {
		return append(all, v.node.text)
	}
	v.Items("an entry of "+v.what, func(item Value) {
		if text, ok := item.Text(); ok {
			all = append(all, text)
		}
	})
	return all
}

// Text reads a text that is not empty.
func (v Value) Text() (string, bool) {
	if !v.is(textKind) {
		return "", false
	}
	if v.node.text == "" {
		v.Fault(v.what+" is empty", "")
		return "", false
	}
	return v.node.text, true
}

// IsNumber reports whether the value is a number.
func (v Value) IsNumber() bool { return v.node.kind == numberKind }

// Flag reads true or false.
func (v Value) Flag() (on, ok bool) { return v.node.text == "true", v.is(boolKind) }

// Count reads a non-negative whole number.
func (v Value) Count() (int, bool) { return v.document.decoder.count(v.node, v.what) }

// Word reads one of a few words.
func (v Value) Word(words ...string) (string, bool) {
	if !v.is(textKind) {
		return "", false
	}
	if msg, hint := checkWord(words)(v.what, shown(v.node), v.node.text); msg != "" {
		v.Fault(msg, hint)
		return "", false
	}
	return v.node.text, true
}

// Duration reads a duration such as "2m30s".
func (v Value) Duration() (time.Duration, bool) {
	if !v.is(textKind) {
		return 0, false
	}
	t, ok := duration(v.node.text)
	if !ok {
		v.Fault(fmt.Sprintf("%s: %s is not a duration", v.what, shown(v.node)), "for example 2m30s")
	}
	return t, ok
}

// Object returns a mapping as a JSON object, with its keys in their order and its
// numbers as they were written.
func (v Value) Object() (json.RawMessage, bool) {
	if !v.is(mapKind) {
		return nil, false
	}
	before := len(v.document.decoder.errs)
	text := v.document.json(nil, v.node)
	return text, len(v.document.decoder.errs) == before
}

func (v Value) is(want kind) bool { return v.document.decoder.is(v.node, want, v.what) }

// json appends a value as JSON.
func (d *Document) json(to []byte, n *node) []byte {
	switch n.kind {
	case mapKind:
		to = append(to, '{')
		first := len(to)
		d.decoder.each(n, "", func(key, value *node) {
			if len(to) > first {
				to = append(to, ',')
			}
			to = append(appendText(to, key.text), ':')
			to = d.json(to, value)
		})
		return append(to, '}')
	case listKind:
		to = append(to, '[')
		for i, item := range n.items {
			if i > 0 {
				to = append(to, ',')
			}
			to = d.json(to, item)
		}
		return append(to, ']')
	case textKind:
		return appendText(to, n.text)
	case numberKind:
		if !json.Valid([]byte(n.text)) {
			d.decoder.at(n, fmt.Sprintf("%q is not a JSON number", n.text), "put it in quotes, or write it as JSON does")
		}
		return append(to, n.text...)
	case boolKind:
		return append(to, n.text...)
	default:
		return append(to, "null"...)
	}
}

func appendText(to []byte, text string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		panic(err) // it is a string
	}
	return append(to, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...)
}
