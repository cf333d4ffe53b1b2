package wire

import (
	"strings"

	"github.com/petrigate/petrigate/internal/rawjson"
)

// MaxValue is how many bytes of a result a net reads. A longer value counts as absent.
const MaxValue = 1 << 20

// ResultValue returns what a tool's result says, as one JSON value: its
// structuredContent, or else its only content block if that is a text which is JSON;
// nil if there is neither.
func ResultValue(result []byte) []byte {
	if value, ok := rawjson.Member(result, "structuredContent"); ok {
		return short(value)
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

// ResultText returns the texts of the content blocks of a tool's result, a line break
// between them; empty if they are longer than [MaxValue].
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

// short returns the value, or nil if it is too long.
func short(value []byte) []byte {
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
