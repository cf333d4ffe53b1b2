package gate_test

import (
	"cmp"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/gate"
)

// TestRefusalQuotesMappedText checks that a refusal for a mapped name starts with the tool and the text that the map
// has read.
func TestRefusalQuotesMappedText(t *testing.T) {
	all := func(string) bool { return true }
	ofPath := ruleNet("block-edit", gate.CauseBlock, "edit {key} is blocked.", map[string]int{"locked": 0},
		gate.Transition{Name: "do-edit", Inputs: []string{"locked"}, Outputs: []string{"locked"}, Tools: gate.Tools("edit")})
	ofPath.Key = []gate.Field{{Path: "path"}}
	p := play(t, gate.PolicyOptions{Labels: labels(
		gate.Map{Tool: "read", Field: "path", As: "secret", Match: contains("env")},
		gate.Map{Tool: "w*", Glob: true, Field: "$.to.path", As: "secret", Match: all},
		gate.Map{Tool: "list", Field: "n", As: "secret", Match: all},
		gate.Map{Tool: "other", Field: "path", As: "open", Match: all},
		gate.Map{Tool: "mv", Field: "path", As: "edit", Match: all},
	)}, blockNet("secret"), blockNet("rm"), ofPath)
	for call, want := range map[string]string{
		`read {"path":"a/.env"}`:                "read `a/.env` (secret) is blocked and cannot be called.",
		`write {"to":{"path":"a\nb"}}`:          "write `a\\u{a}b` (secret) is blocked and cannot be called.",
		`list {"n":["a","b"]}`:                  "list (secret) is blocked and cannot be called.",
		`mv {"path":"a/b"}`:                     "mv (edit) a/b is blocked.",
		`secret`:                                "secret is blocked and cannot be called.",
		`rm {"path":"a"}`:                       "rm is blocked and cannot be called.",
		`read {"path":"` + long + `.env` + `"}`: "read `" + long[:80] + "...` (secret) is blocked and cannot be called.",
	} {
		r := p.refuse(call, gate.KindBlocked, cmp.Or(map[string]string{"rm": "block-rm", "mv": "block-edit"}[call[:2]], "block-secret"))
		if r.Text != want {
			t.Errorf("%s: %s, want %s", call, r.Text, want)
		}
		if words := r.Blocks[0].Words; words != "" && !strings.Contains(want, words+" (") || words == "" && strings.Contains(want, "`") {
			t.Errorf("%s: the words are %q", call, words)
		}
	}
}

// TestRefusalQuotesPartOfScript checks that a refusal shows only the matched part of a long script.
func TestRefusalQuotesPartOfScript(t *testing.T) {
	words := &commands{words: []string{"ls", "cat", "rm"}}
	maps := append([]gate.Map{{Tool: "sh", Field: "c", Reader: words, Pattern: 1, As: "remove", Source: "cat"}}, shellMaps(words)...)
	p := play(t, gate.PolicyOptions{Labels: labels(maps...)}, blockNet("remove"))
	for args, want := range map[string]string{
		`{"c":"` + long + `; rm"}`:    "sh `rm` (remove) is blocked and cannot be called.",
		`{"c":"a; ` + long + `; rm"}`: "sh `a; " + long[:77] + "...` (remove) is blocked and cannot be called.",
		`{"c":"ls; rm"}`:              "sh `ls; rm` (remove) is blocked and cannot be called.",
	} {
		if r := p.refuse("sh "+args, gate.KindBlocked, "block-remove"); r.Text != want {
			t.Errorf("%s: %s, want %s", args, r.Text, want)
		}
	}
}

// TestEvidenceWithinSameCallIsTooLate checks that evidence within the same script comes too late.
func TestEvidenceWithinSameCallIsTooLate(t *testing.T) {
	words := &commands{words: []string{"test", "push"}}
	var maps []gate.Map
	for i, word := range words.words {
		maps = append(maps, gate.Map{Tool: "sh", Field: "c", Reader: words, Pattern: i, As: word, Source: word})
	}
	maps = append(maps, gate.Map{Tool: "run", Field: "c", Match: contains("test"), As: "test", Source: "test"},
		gate.Map{Tool: "run", Field: "c", Match: contains("push"), As: "push", Source: "push"})
	p := play(t, gate.PolicyOptions{Labels: labels(maps...)}, sequenceNet("test", "push"))
	const refused, late = " (push) requires a successful call to test first.", " did not count as test: the verdict is on the whole call, before any of it runs. Make two calls."
	p.success(`sh {"c":"test; tail"}`)
	for call, want := range map[string]string{
		`sh {"c":"test; push"}`:     "sh `test; push`" + refused + " `test; push`" + late,
		`run {"c":"test and push"}`: "run `test and push`" + refused + " `ls; tail` did not count as test: a doubt. Write ls.",
		`sh {"c":"push"}`:           "sh `push`" + refused + " `ls; tail` did not count as test: a doubt. Write ls.",
	} {
		if r := p.refuse(call, gate.KindBlocked, "require-test-before-push"); r.Text != want {
			t.Errorf("%s: %q, want %q", call, r.Text, want)
		}
	}
}

var long = strings.Repeat("x", 90)
