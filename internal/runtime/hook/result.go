package hook

import (
	"strings"

	"github.com/petrigate/petrigate/internal/rawjson"
)

// maxText is the maximum size in bytes of a result that is read as text. Larger results count as
// empty.
const maxText = 1 << 20

// returnedText returns the text of a call's result. The result is a string, a list of content
// blocks, or an object that contains a string or such a list.
func (e *Event) returnedText() string {
	if len(e.result) > maxText {
		return ""
	}
	switch rawjson.Kind(e.result) {
	case '"':
		s, _ := rawjson.String(e.result)
		return s
	case '[':
		return blockTexts(e.result)
	}
	if blocks, ok := rawjson.Member(e.result, "content"); ok && rawjson.Kind(blocks) == '[' {
		return blockTexts(blocks)
	}
	for _, key := range [...]string{"content", "llmContent", "text_result_for_llm", "stdout", "output"} {
		if s := text(e.result, key); s != "" {
			return s
		}
	}
	return ""
}

func blockTexts(blocks []byte) string {
	var texts []string
	rawjson.Elements(blocks, func(block []byte, _ int) bool {
		if text(block, "type") == "text" {
			texts = append(texts, text(block, "text"))
		}
		return true
	})
	return strings.Join(texts, "\n")
}

func text(body []byte, key string) string {
	value, _ := rawjson.Member(body, key)
	s, _ := rawjson.String(value)
	return s
}

func memberOf(object []byte, key string) []byte {
	value, _ := rawjson.Member(object, key)
	return value
}
