package wire

import (
	"strings"

	"github.com/petrigate/petrigate/internal/rawjson"
)

// MaxValue is the maximum number of bytes of a result that a net reads. A longer value counts as
// absent.
const MaxValue = 1 << 20

// ResultValue returns the content of a tool result as one JSON value: its structuredContent, or
// else its only content block if that is a text block with JSON, or nil.
func ResultValue(result []byte) []byte {
	if value, ok := rawjson.Member(result, "structuredContent"); ok {
		return shortValue(value)
	}
	content, _ := rawjson.Member(result, "content")
	var block []byte
	blocks := 0
	rawjson.Elements(content, func(value []byte, _ int) bool {
		block = value
		blocks++
		return blocks < 2
	})
	if blocks != 1 || member(block, "type") != "text" {
		return nil
	}
	text := []byte(member(block, "text"))
	if len(text) == 0 || len(text) > MaxValue || rawjson.Check(text, rawjson.MaxDepth) != nil {
		return nil
	}
	return text
}

// ResultText returns the texts of a result's content blocks, joined by line breaks, or an empty
// string if the content is longer than [MaxValue].
func ResultText(result []byte) string {
	content, _ := rawjson.Member(result, "content")
	if len(content) > MaxValue {
		return ""
	}
	var texts []string
	rawjson.Elements(content, func(block []byte, _ int) bool {
		if member(block, "type") == "text" {
			texts = append(texts, member(block, "text"))
		}
		return true
	})
	return strings.Join(texts, "\n")
}

// shortValue returns value, or nil if it is longer than [MaxValue].
func shortValue(value []byte) []byte {
	if len(value) > MaxValue {
		return nil
	}
	return value
}

// member returns the string of an object's member, or "".
func member(object []byte, key string) string {
	value, _ := rawjson.Member(object, key)
	s, _ := rawjson.String(value)
	return s
}
