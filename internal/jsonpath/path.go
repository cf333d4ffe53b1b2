// Package jsonpath reads what stands in one place of a JSON document, also where
// the readers of the document may not agree what that is.
package jsonpath

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/petrigate/petrigate/internal/rawjson"
)

// A Path leads from a document to values inside it:
// $.request.method, $.files[*].path, $.args[0], $["odd key"].
type Path struct{ steps []step }

// step goes one level down.
type step struct {
	key   string // of an object
	index int    // of an array; every: all of it; noIndex: not an index
}

const (
	noIndex = -1
	every   = -2
)

// An Error is a mistake in a path, with its offset.
type Error struct {
	Offset int // in bytes, from the beginning of the path
	Msg    string
}

// IsPath reports whether the text names its field by a path, and not by one key.
func IsPath(field string) bool {
	return strings.HasPrefix(field, "$.") || strings.HasPrefix(field, "$[")
}

// Parse parses a path. The error is nil if there is none.
func Parse(text string) (Path, *Error) {
	var p Path
	if !strings.HasPrefix(text, "$") {
		return p, &Error{Msg: "a path begins with $"}
	}
	if text == "$" {
		return p, &Error{Offset: 1, Msg: "the path names no field"}
	}
	for at := 1; at < len(text); {
		s, end, msg := parseStep(text, at)
		if msg != "" {
			return Path{}, &Error{Offset: at, Msg: msg}
		}
		p.steps = append(p.steps, s)
		at = end
	}
	return p, nil
}

// parseStep reads the step that begins at the offset.
func parseStep(text string, at int) (s step, end int, msg string) {
	switch text[at] {
	case '.':
		end = len(text)
		if i := strings.IndexAny(text[at+1:], ".["); i >= 0 {
			end = at + 1 + i
		}
		s = step{key: text[at+1 : end], index: noIndex}
		if s.key == "" {
			msg = "a key is missing after the dot"
		}
		return s, end, msg
	case '[':
		return parseBracket(text, at)
	default:
		return s, at, fmt.Sprintf("unexpected %q: a step is .key, [*], [0] or [\"key\"]", text[at:])
	}
}

func parseBracket(text string, at int) (s step, end int, msg string) {
	if strings.HasPrefix(text[at+1:], `"`) {
		return parseQuoted(text, at)
	}
	length := strings.IndexByte(text[at:], ']')
	if length < 0 {
		return s, at, "the bracket is not closed"
	}
	inside := text[at+1 : at+length]
	end = at + length + 1
	if inside == "*" {
		return step{index: every}, end, ""
	}
	n, err := strconv.ParseInt(inside, 10, 32)
	if err != nil || n < 0 || strconv.FormatInt(n, 10) != inside {
		return s, at, fmt.Sprintf("%q is neither * nor the number of an element", inside)
	}
	return step{index: int(n)}, end, ""
}

// parseQuoted reads ["key"], in which the key is a JSON string.
func parseQuoted(text string, at int) (s step, end int, msg string) {
	d := json.NewDecoder(strings.NewReader(text[at+1:]))
	var key string
	if err := d.Decode(&key); err != nil {
		return s, at, "the quoted key is not a JSON string"
	}
	end = at + 1 + int(d.InputOffset())
	if end == len(text) || text[end] != ']' {
		return s, at, "the bracket is not closed"
	}
	return step{key: key, index: noIndex}, end + 1, ""
}

// Many reports whether the path can lead to more than one value.
func (p Path) Many() bool {
	return slices.ContainsFunc(p.steps, func(s step) bool { return s.index == every })
}

// Keys returns the keys of the path, with "" for a step into an array.
func (p Path) Keys() []string {
	keys := make([]string, len(p.steps))
	for i, s := range p.steps {
		keys[i] = s.key
	}
	return keys
}

// values yields the values in doc to which the path leads, in their order.
// If a value does not have the type of the step, a reader may still accept it: it
// yields the value as a doubt, and also everything below a doubtful key.
func (p Path) values(doc []byte, doubt bool, yield func(value []byte, doubt bool)) {
	if len(p.steps) == 0 {
		yield(doc, doubt)
		return
	}
	first, rest := p.steps[0], Path{steps: p.steps[1:]}
	switch {
	case first.index == noIndex && rawjson.Kind(doc) == '{':
		eachMember(doc, first.key, doubt, func(v []byte, doubt bool) { rest.values(v, doubt, yield) })
	case first.index != noIndex && rawjson.Kind(doc) == '[':
		number := 0
		rawjson.Elements(doc, func(v []byte, _ int) bool {
			if first.index == every || first.index == number {
				rest.values(v, doubt, yield)
			}
			number++
			return first.index == every || number <= first.index
		})
	default:
		yield(doc, true)
	}
}

// eachMember yields the member of this key. Where keys differ from it in letter
// case only, some readers take one of those for it, and which cannot be known: then
// it yields all of them, each as a doubt.
func eachMember(object []byte, key string, doubt bool, yield func(value []byte, doubt bool)) {
	value, ok, variants := rawjson.Variants(object, key)
	switch {
	case variants:
		rawjson.EachVariant(object, key, func(v []byte) { yield(v, true) })
	case ok:
		yield(value, doubt)
	}
}
