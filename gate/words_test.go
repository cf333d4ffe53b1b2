package gate_test

import (
	"cmp"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/gate"
)

// TestWords: a refusal by a name that a map gives speaks of the tool and of what the map has read.
func TestWords(t *testing.T) {
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

var long = strings.Repeat("x", 90)
