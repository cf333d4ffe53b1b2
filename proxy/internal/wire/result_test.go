package wire

import (
	"strings"
	"testing"
)

func TestResultValue(t *testing.T) {
	long := strings.Repeat("x", MaxValue)
	for result, want := range map[string]string{
		`{"structuredContent":{"a":1},"content":[{"type":"text","text":"{\"a\":2}"}]}`: `{"a":1}`,
		`{"structuredContent":null,"content":[{"type":"text","text":"1"}]}`:            `null`,
		`{"content":[{"type":"text","text":"{\"a\":2}"}]}`:                             `{"a":2}`,
		`{"content":[{"type":"text","text":" [1, \"é\"] "}]}`:                          ` [1, "é"] `,
		`{"content":[{"type":"text","text":"fine"}]}`:                                  ``,
		`{"content":[{"type":"text","text":"{\"a\":1,\"a\":2}"}]}`:                     ``,
		`{"content":[{"type":"text","text":"1"},{"type":"text","text":"2"}]}`:          ``,
		`{"content":[{"type":"image","text":"1"}]}`:                                    ``,
		`{"content":[{"type":"text"}]}`:                                                ``,
		`{"content":[]}`:                                                               ``,
		`{"content":1}`:                                                                ``,
		`{}`:                                                                           ``,
		`[`:                                                                            ``,
		`{"structuredContent":"` + long + `"}`:                                         ``,
		`{"content":[{"type":"text","text":"[\"` + long + `\"]"}]}`:                    ``,
		`{"content":[{"type":"text","text":"\"` + long[:100] + `\""}]}`:                `"` + long[:100] + `"`,
	} {
		if got := string(ResultValue([]byte(result))); got != want {
			t.Errorf("%.100s: %.100q, want %.100q", result, got, want)
		}
	}
}

func TestResultText(t *testing.T) {
	for result, want := range map[string]string{
		`{"content":[{"type":"text","text":"a"},{"type":"image","text":"b"},{"type":"text","text":"c\n"}]}`: "a\nc\n",
		`{"structuredContent":{"a":1},"content":[{"type":"text","text":"{}"}]}`:                             "{}",
		`{"content":[{"type":"text","text":1}]}`:                                                            "",
		`{"content":"text"}`:                                                                                "",
		`{}`:                                                                                                "",
		`{"content":[{"type":"text","text":"` + strings.Repeat("x", MaxValue) + `"}]}`: "",
	} {
		if got := ResultText([]byte(result)); got != want {
			t.Errorf("%.100s: %.100q, want %.100q", result, got, want)
		}
	}
}
