package draft

import (
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/basefile"
	"github.com/petrigate/petrigate/internal/policy/policydiff"
)

const someBase = `base: { name: acme, version: 1 }
rules:
  - inline: |
      map bash.command runs ls as look
      require human-approval before bash unless look
nets:
  - { name: gate, places: [a], initialMarking: { a: 1 }, transitions: [{ name: t, inputs: [a], tools: [release] }] }
`

// TestDraftAgainstBasePolicy checks that a draft that allows more than the base policy yields the
// same error as petrigate check, and that texts of a base cannot be edited.
func TestDraftAgainstBasePolicy(t *testing.T) {
	c := folder(t, map[string]string{
		"base.yaml":      someBase,
		"a.rules":        "block rm\n",
		"petrigate.yaml": "mcpServers: { prod: { command: go } }\naudit: { file: audit.jsonl }\nextends: [ { file: base.yaml, digest: \"" + basefile.Digest([]byte(someBase)) + "\" } ]\nrules: [ { file: a.rules } ]\n",
	})
	d := desk(t, c, Options{})
	var of Text
	for _, text := range texts(c) {
		if ofBase := text.Name == "base.yaml"; ofBase != strings.Contains(text.Closed, `the base policy "acme"`) || ofBase != (text.Text == "") {
			t.Errorf("%+v", text)
		}
		if text.Name == "a.rules" {
			of = text
		}
	}
	for _, c := range []struct{ text, code string }{
		{"block rm\nmap bash.command runs cat as look\n", policydiff.Widens},
		{"map bash.stdin runs rm as remove\nblock remove\n", policydiff.NotNarrower},
		{"block rm\nblock del\n", ""},
	} {
		got, err := d.Check(t.Context(), "ann", Draft{Of: of.ID, Text: c.text})
		if err != nil {
			t.Fatal(err)
		}
		write(t, Rules, c.text)
		want := onDisk(t, nil)
		if a, b := printed(t, got.Report), printed(t, want); a != b || got.Report.OK != (c.code == "") || !strings.Contains(a, c.code) {
			t.Errorf("the draft has\n%s\nthe file has\n%s", a, b)
		}
		if p := got.Problems; c.code == policydiff.Widens && (p[0].Code != c.code || p[0].Line != 2) {
			t.Errorf("%+v", p[0])
		}
	}
}
