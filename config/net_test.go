package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

const lockNet = `{"name": "lock", "places": ["free", "held"], "initialMarking": {"free": 1}, "freeTools": [], "match": "first",
"map": [{"tool": "bash", "field": "command", "pattern": "\\bcp\\b", "as": "copy"}, {"tool": "bash", "field": "", "word": "rm", "as": "delete"}],
"transitions": [{"name": "take", "type": "manual", "inputs": ["free", "free"], "outputs": ["held"], "tools": ["lock"], "deferred": true, "observe": false}]}`

func TestParseNet(t *testing.T) {
	at := func(line, column int) Position { return Position{File: "f", Line: line, Column: column} }
	want := []Net{{
		Name: "lock", Places: []string{"free", "held"}, InitialMarking: map[string]int{"free": 1}, FreeTools: []string{}, Match: "first",
		Map: []Map{
			{Tool: "bash", Field: "command", Pattern: `\bcp\b`, As: "copy", Position: at(2, 9)},
			{Tool: "bash", Word: "rm", As: "delete", Position: at(2, 84)},
		},
		Transitions: []Transition{{Name: "take", Type: "manual", Inputs: []string{"free", "free"}, Outputs: []string{"held"},
			Tools: []string{"lock"}, Deferred: true, Position: at(3, 17)}},
		Position: at(1, 1),
	}}
	for name, src := range map[string]string{"JSON": lockNet, "YAML": lockNet + " # the same"} {
		got, err := ParseNet("f", []byte(src))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Net{}, Transition{}, Map{})); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
}

func TestParseNetForms(t *testing.T) {
	for src, want := range map[string]int{
		"name: a":                             1,
		"- name: a\n- name: b":                2,
		"nets: [{ name: a }]":                 1,
		"[]":                                  0,
		`{"nets": [{"name": "a"}]}`:           1,
		"nets: [{ name: a }]\nname: b":        -1,
		"a":                                   -1,
		"":                                    -1,
		"nets: x":                             -1,
		`{"name": "a", "name": "b"}`:          -1,
		`{"name": "a", "name": "b"`:           -1,
		`{"name": null}`:                      -1,
		`{"name": "a", "places": null}`:       -1,
		`{"name": "a", "places": [1]}`:        -1,
		`{"name": "a"} {"name": "b"}`:         -1,
		"name: a\n---\nname: b":               -1,
		`{"name": "a", "transitions": ["x"]}`: -1,
	} {
		nets, err := ParseNet("f", []byte(src))
		if (err != nil) != (want < 0) || err == nil && len(nets) != want {
			t.Errorf("%q: %d nets, %v; want %d", src, len(nets), err, want)
		}
	}
}

func BenchmarkParseNet(b *testing.B) {
	for name, src := range map[string]string{"JSON": lockNet, "YAML": lockNet + " #"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				if _, err := ParseNet("f", []byte(src)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkParse(b *testing.B) {
	src := oneServer + "rules: |\n" + strings.Repeat("  block rm\n", 60)
	for b.Loop() {
		if _, err := Parse("f", []byte(src), Options{Env: from(nil)}); err != nil {
			b.Fatal(err)
		}
	}
}
