package wire

import (
	"strings"

	"github.com/petrigate/petrigate/internal/rawjson"
)

// MaxValue is the maximum size, in bytes, of a result that the policy's Petri nets can read. A
// larger result is treated as missing.
const MaxValue = 1 << 20

// ResultValue returns the content of a tool result as one JSON value. It returns the
// structuredContent or, without one, the text of the only content block if this text is JSON. In
// all other cases, and if the value is longer than [MaxValue], it returns nil.
func ResultValue(result []byte) []byte {
	if value, ok := rawjson.Member(result, "structuredContent"); ok {
		if len(value) > MaxValue {
			return nil
		}
		return value
	}
	content, _ := rawjson.Member(result, "content")
	var block []byte
	blocks := 0
	rawjson.Elements(content, func(value []byte, _ int) bool {
		block = value
		blocks++
		return blocks < 2
	})
	if blocks != 1 || rawjson.StringAt(block, "type") != "text" {
		return nil
	}
	text := []byte(rawjson.StringAt(block, "text"))
	if len(text) == 0 || len(text) > MaxValue || rawjson.Check(text, rawjson.MaxDepth) != nil {
		return nil
	}
	return text
}

// ResultText returns the text of all text blocks in a result's content, joined with newlines. If
// the content is longer than [MaxValue], it returns "".
func ResultText(result []byte) string {
	content, _ := rawjson.Member(result, "content")
	if len(content) > MaxValue {
		return ""
	}
	var texts []string
	rawjson.Elements(content, func(block []byte, _ int) bool {
		if rawjson.StringAt(block, "type") == "text" {
			texts = append(texts, rawjson.StringAt(block, "text"))
		}
		return true
	})
	return strings.Join(texts, "\n")
}

// Facts holds the members of a tool result that show how the call ended.
type Facts struct {
	Failed bool // whether isError is present and not false
	Type   Type // value of resultType
	Task   bool // whether the result has a "task" member; the work then continues as a task

	// Broken reports whether the result is not an object, repeats a known key, or has a key that
	// differs from a known key only in case. Parsers might disagree about such a result, so the
	// call does not count as successful.
	Broken bool
}

// A Type is the value of resultType in a result.
type Type uint8

const (
	TypeAbsent        Type = iota
	TypeComplete           // "complete"
	TypeInputRequired      // "input_required"
	TypeTask               // "task"; since revision 2026-07-28, it means the same as a "task" member
	TypeOther
)

// ResultFacts reads the top-level members of a result.
func ResultFacts(result []byte) (f Facts) {
	var isError, meta bool // whether the member has already been seen
	first := func(seen *bool) {
		f.Broken = f.Broken || *seen
		*seen = true
	}
	whole := rawjson.Members(result, func(key, value []byte, _ int) bool {
		switch string(key) {
		case "isError":
			first(&isError)
			f.Failed = string(value) != "false"
		case "resultType":
			f.Broken = f.Broken || f.Type != TypeAbsent
			f.Type = resultType(value)
		case "task":
			first(&f.Task)
		case "_meta":
			first(&meta)
		default:
			f.Broken = f.Broken || variantOf(key, resultKeys) != ""
		}
		return true
	})
	f.Broken = f.Broken || !whole
	return f
}

func resultType(value []byte) Type {
	switch name, _ := rawjson.String(value); name {
	case "complete":
		return TypeComplete
	case "input_required":
		return TypeInputRequired
	case "task":
		return TypeTask
	}
	return TypeOther
}

// Success reports whether the call has succeeded: its result is complete, and no parser could
// mistake it for an error.
func (f Facts) Success() bool {
	return f.Type != TypeInputRequired && f.Type != TypeOther && !f.IsHandle() && !f.Broken && !f.Failed
}

// IsHandle reports whether the result is a task handle, that is, whether it only refers to a task
// that continues the call. The client need not have asked for a task.
func (f Facts) IsHandle() bool { return f.Task || f.Type == TypeTask }
