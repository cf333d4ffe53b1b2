// Package jsonpath reads the values at a path in a JSON document, and detects paths where JSON
// parsers may disagree about the values.
package jsonpath

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/rawjson"
)

// A Path selects values in a JSON document. Examples are $.request.method, $.files[*].path,
// $.args[0] and $["odd key"].
type Path struct{ steps []step }

// A step leads one level down into a document.
type step struct {
	key   string // key of an object member
	index int    // array index, the constant noIndex (object member), or the constant every (all elements)
}

const (
	noIndex = -1
	every   = -2
)

// An Error is a syntax error in a path.
type Error struct {
	Offset int // byte offset in the path
	Msg    string
}

// IsPath reports whether the string is a path rather than a single key.
func IsPath(field string) bool {
	return strings.HasPrefix(field, "$.") || strings.HasPrefix(field, "$[")
}

// Parse parses a path. If the path is invalid, the error describes where and why.
func Parse(text string) (Path, *Error) {
	var p Path
	if !strings.HasPrefix(text, "$") {
		return p, &Error{Msg: "a path must begin with $"}
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

// parseStep parses the step at the given offset.
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

// parseQuoted parses a step of the form ["key"], where the key is a JSON string.
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

// Many reports whether the path can select several values.
func (p Path) Many() bool {
	return slices.ContainsFunc(p.steps, func(s step) bool { return s.index == every })
}

// Keys returns the key of each step, or "" for a step into an array.
func (p Path) Keys() []string {
	return list.Map(p.steps, func(s step) string { return s.key })
}

// values calls yield for each value that the path selects in doc, in order. If the path cannot
// continue because a value has the wrong type, values calls yield for that value instead. The
// second argument of yield is true for values of the wrong type and for values that parsers might
// disagree about.
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

// eachMember calls yield for the value of the member with the given key. If other keys differ from
// it only in letter case, parsers might disagree about the value. In this case, eachMember calls
// yield for the value of each of these members, with true as the second argument.
func eachMember(object []byte, key string, doubt bool, yield func(value []byte, doubt bool)) {
	value, ok, variants := rawjson.Variants(object, key)
	switch {
	case variants:
		rawjson.EachVariant(object, key, func(v []byte) { yield(v, true) })
	case ok:
		yield(value, doubt)
	}
}
