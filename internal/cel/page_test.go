package cel

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestPage compiles every expression in docs/expressions.md.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/expressions.md")
	if err != nil {
		t.Fatal(err)
	}
	compiled := 0
	for _, block := range regexp.MustCompile("(?ms)^```(call|net)\n(.*?)^```$").FindAllStringSubmatch(string(page), -1) {
		for line := range strings.Lines(block[2]) {
			if block[1] == "call" {
				_, err = NewReader().Expr(line)
			} else {
				_, err = NewCompiler().Value(line, nil)
			}
			if err != nil {
				t.Errorf("%s%v", line, err)
			}
			compiled++
		}
	}
	if compiled < 10 {
		t.Errorf("%d expressions", compiled)
	}
}
