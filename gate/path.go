package gate

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/petrigate/petrigate/internal/rawjson"
)

// A Path leads from the arguments of a call to values inside them:
// $.request.method, $.files[*].path, $.args[0], $["odd key"].
type Path struct{ steps []pathStep }

// pathStep goes one level down.
type pathStep struct {
	key   string // of an object
	index int    // of an array; every: all of it; noIndex: not an index
}

const (
	noIndex = -1
	every   = -2
)

// A PathError is a mistake in a path, with its offset.
type PathError struct {
	Offset int // in bytes, from the beginning of the path
	Msg    string
}

// Error returns the offset and the message.
func (e *PathError) Error() string { return fmt.Sprintf("at byte %d: %s", e.Offset, e.Msg) }

// ParsePath parses a path. Its error is a [*PathError].
func ParsePath(text string) (Path, error) {
	var p Path
	if !strings.HasPrefix(text, "$") {
		return p, &PathError{Msg: "a path begins with $"}
	}
	if text == "$" {
		return p, &PathError{Offset: 1, Msg: "the path names no field"}
	}
	for at := 1; at < len(text); {
		step, end, msg := parseStep(text, at)
		if msg != "" {
			return Path{}, &PathError{Offset: at, Msg: msg}
		}
		p.steps = append(p.steps, step)
		at = end
	}
	return p, nil
}

// parseStep reads the step that begins at the offset.
func parseStep(text string, at int) (step pathStep, end int, msg string) {
	switch text[at] {
	case '.':
		end = len(text)
		if i := strings.IndexAny(text[at+1:], ".["); i >= 0 {
			end = at + 1 + i
		}
		step = pathStep{key: text[at+1 : end], index: noIndex}
		if step.key == "" {
			msg = "a key is missing after the dot"
		}
		return step, end, msg
	case '[':
		return parseBracket(text, at)
	default:
		return step, at, fmt.Sprintf("unexpected %q: a step is .key, [*], [0] or [\"key\"]", text[at:])
	}
}

func parseBracket(text string, at int) (step pathStep, end int, msg string) {
	if strings.HasPrefix(text[at+1:], `"`) {
		return parseQuoted(text, at)
	}
	length := strings.IndexByte(text[at:], ']')
	if length < 0 {
		return step, at, "the bracket is not closed"
	}
	inside := text[at+1 : at+length]
	end = at + length + 1
	if inside == "*" {
		return pathStep{index: every}, end, ""
	}
	n, err := strconv.ParseInt(inside, 10, 32)
	if err != nil || n < 0 || strconv.FormatInt(n, 10) != inside {
		return step, at, fmt.Sprintf("%q is neither * nor the number of an element", inside)
	}
	return pathStep{index: int(n)}, end, ""
}

// parseQuoted reads ["key"], in which the key is a JSON string.
func parseQuoted(text string, at int) (step pathStep, end int, msg string) {
	d := json.NewDecoder(strings.NewReader(text[at+1:]))
	var key string
	if err := d.Decode(&key); err != nil {
		return step, at, "the quoted key is not a JSON string"
	}
	end = at + 1 + int(d.InputOffset())
	if end == len(text) || text[end] != ']' {
		return step, at, "the bracket is not closed"
	}
	return pathStep{key: key, index: noIndex}, end + 1, ""
}

// Many reports whether the path can lead to more than one value.
func (p Path) Many() bool {
	for _, s := range p.steps {
		if s.index == every {
			return true
		}
	}
	return false
}

// values yields the values in doc to which the path leads, in their order.
// If a value does not have the type of the step, the server may still accept it: it
// yields the value as a doubt, and also everything below a doubtful key.
func (p Path) values(doc []byte, doubt bool, yield func(value []byte, doubt bool)) {
	if len(p.steps) == 0 {
		yield(doc, doubt)
		return
	}
	step, rest := p.steps[0], Path{steps: p.steps[1:]}
	switch {
	case step.index == noIndex && rawjson.Kind(doc) == '{':
		eachMember(doc, step.key, doubt, func(v []byte, doubt bool) { rest.values(v, doubt, yield) })
	case step.index != noIndex && rawjson.Kind(doc) == '[':
		number := 0
		rawjson.Elements(doc, func(v []byte, _ int) bool {
			if step.index == every || step.index == number {
				rest.values(v, doubt, yield)
			}
			number++
			return step.index == every || number <= step.index
		})
	default:
		yield(doc, true)
	}
}
