package config

import (
	"strings"
	"testing"
)

// TestWithRulesAndNetsCopies checks that a configuration with a replaced text is a copy, and that
// its problems have positions in the new text.
func TestWithRulesAndNetsCopies(t *testing.T) {
	const src = "rules:\n  - inline: |\n      block rm\n  - inline: block del\nnets:\n  - { name: own, places: [a] }\n"
	c, err := Parse("petrigate.yaml", []byte(src), Options{})
	if err != nil {
		t.Fatal(err)
	}
	other, err := c.WithRules(0, "block rm\nblock x")
	if err != nil || c.Rules[0].Text != "block rm\n" || other.Rules[0].Text != "block rm\nblock x" || other.Rules[1].Text != "block del" {
		t.Errorf("%+v, %v", other, err)
	}
	if at := other.Rules[0].Position(2, 3).String(); !other.Rules[0].Inline() || at != "petrigate.yaml:4:9" {
		t.Errorf("the second line is at %s", at)
	}
	c.Nets[0].Position.File = "a.yaml"
	if other, err = c.WithNets("a.yaml", "[{ name: one, places: [a] }, { name: two, places: [a] }]"); err != nil || len(other.Nets) != 2 || len(c.Nets) != 1 {
		t.Errorf("%+v, %v", other, err)
	}
	if other, err = c.WithNets("b.yaml", "{ name: one, places: [a] }"); err != nil || len(other.Nets) != 2 || other.Nets[1].Name != "own" {
		t.Errorf("%+v, %v", other, err)
	}
	for text, want := range map[string]string{
		" \n":                              `b.yaml: the file "b.yaml" is empty`,
		"{ name: own, places: [a] }":       `a.yaml:6:5: duplicate net "own" (the first is at b.yaml:1:1)`,
		"{ name: one, place: [a] }":        `b.yaml:1:14: unknown key "place" in a net (did you mean "places"?)`,
		"{ name: x, places: '${file:x}' }": `b.yaml:1:`,
		"a: [":                             `b.yaml:1`,
	} {
		if _, err := c.WithNets("b.yaml", text); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	for i, want := range []string{"petrigate.yaml:3:7: the rules are empty", "petrigate.yaml:4:13: the rules are empty"} {
		if _, err := c.WithRules(i, "\n"); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
