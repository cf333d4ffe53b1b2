package rules_test

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/petrigate/petrigate/rules"
)

// TestFormat compares the formatted "in" of an archive with its "out".
func TestFormat(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/format.txtar")
	if err != nil {
		t.Fatal(err)
	}
	got, err := rules.Format(unhex(t, archive.Files[0].Data))
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		archive.Files = []txtar.File{archive.Files[0], {Name: "out", Data: got}}
		if err := os.WriteFile("testdata/format.txtar", txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(archive.Files[1].Data), string(got)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestFormatEdges(t *testing.T) {
	for src, want := range map[string]string{
		"": "", "\n\n": "", "\ufeff": "", " \t#": "#\n", "block a": "block a\n", "\n\nblock  a\n\n\n\n#b\n\n": "block a\n\n#b\n",
	} {
		if got, err := rules.Format([]byte(src)); string(got) != want || err != nil {
			t.Errorf("Format(%q) = %q, %v", src, got, err)
		}
	}
	got, err := rules.Format([]byte("block  a\nblok b\nblock"))
	var list rules.ErrorList
	if got != nil || !errors.As(err, &list) || len(list) != 2 || list[0].Pos.Line != 2 {
		t.Errorf("%q, %v", got, err)
	}
}

// comments returns a file's comments. The file must not contain a quoted #.
func comments(src []byte) string {
	var b strings.Builder
	for line := range strings.SplitSeq(string(src), "\n") {
		if _, comment, ok := strings.Cut(line, "#"); ok {
			b.WriteString(strings.TrimSpace(comment))
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// FuzzFormat checks that a formatted file has the same meaning and the same comments, and does not
// change when it is formatted again.
func FuzzFormat(f *testing.F) {
	for _, src := range []string{
		"# a\n\n\nblock  a # b\nlimit b to 3 per session #c\n  # d\n\nmap t.f /a # b/ as c # d",
		"\ufeffblock a\r\n\r\n\r\nblock \"b\\u0063\"\u2028# x \t\r\n",
		"map t.f / as b # x\nmap t.$.a[\"b #\"] runs \"a b\" as c#\nexample t {\"a\": \"#\"} as c # d",
		"require a ,b before c since  d # e\nlimit a to 1 of $.b[\"# ,\"]  per user per day for each c ,d#e",
		"shadow  require a before b once unless c ,d\nmap t when \"args.a == '#'\" as x",
	} {
		f.Add([]byte(src))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		file, errs := rules.Parse("f", src)
		once, err := rules.Format(src)
		if (err != nil) != (len(errs) > 0) {
			t.Fatalf("parsing says %v, formatting %v", errs, err)
		}
		if err != nil {
			return
		}
		again, errs := rules.Parse("f", once)
		if len(errs) > 0 {
			t.Fatalf("%q does not parse: %v", once, errs)
		}
		if diff := cmp.Diff(file.Statements, again.Statements, sameStatement); diff != "" {
			t.Fatalf("%q means something else: %s", once, diff)
		}
		if twice, err := rules.Format(once); err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("%q is formatted again as %q, %v", once, twice, err)
		}
		if !bytes.ContainsAny(src, `"/`) && comments(src) != comments(once) {
			t.Fatalf("%q has other comments than %q", once, src)
		}
	})
}
