package docpage

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	const page = "# A\n\ntext\n    goes on\n\n    $ petrigate version\n    petrigate dev\n\n    more\n\n<!-- not run: no network -->\n```sh\npetrigate login a\n```\n" +
		"<!-- seen in: a/b.txt -->\n\n```\nout\n```\n\n<!-- run in: examples -->\n\n    petrigate check\n"
	want := []Block{
		{Page: "p.md", Line: 6, Kind: "indented", Text: "$ petrigate version\npetrigate dev\n\nmore\n"},
		{Page: "p.md", Line: 12, Kind: "sh", Text: "petrigate login a\n", NotRun: "no network"},
		{Page: "p.md", Line: 17, Text: "out\n", SeenIn: "a/b.txt"},
		{Page: "p.md", Line: 23, Kind: "indented", Text: "petrigate check\n", RunIn: "examples"},
	}
	got := Parse("p.md", page)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("-want +got:\n%s", diff)
	}
	if diff := cmp.Diff([]Session{{"petrigate version", "petrigate dev\n\nmore\n"}}, got[0].Sessions()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for i, script := range []string{"petrigate version\n", "petrigate login a\n", "", "petrigate check\n"} {
		if got[i].Script() != script {
			t.Errorf("block %d: %q", i, got[i].Script())
		}
	}
}
