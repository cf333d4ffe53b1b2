package config

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

func ExampleReadDocument() {
	d := ReadDocument("menu.yaml", []byte("title: lunch\ndishes:\n  - {name: soup, prise: 4}\n  - name: 5\n"), "a menu")
	d.Fields(Keys{
		"title": func(v Value) { fmt.Println(v.Text()) },
		"dishes": func(v Value) {
			v.Items("a dish", func(v Value) {
				v.Fields(Keys{"name": func(v Value) { fmt.Println(v.Text()) }, "price": func(Value) {}})
			})
		},
	})
	fmt.Println(d.Err())
	// Output:
	// lunch true
	// soup true
	//  false
	// menu.yaml:3:18: unknown key "prise" in a dish (did you mean "price"?)
	// menu.yaml:4:11: "name" must be text, not a number (put it in quotes)
}

// readAll reads a document that has a key for each kind of value.
func readAll(text string, render func(error) string) string {
	var b strings.Builder
	say := func(v any, ok bool) { fmt.Fprintf(&b, "%v %v\n", v, ok) }
	d := ReadDocument("d.yaml", []byte(text), "a document")
	d.Fields(Keys{
		"text":  func(v Value) { say(v.Text()) },
		"texts": func(v Value) { fmt.Fprintf(&b, "%q\n", v.Texts()) },
		"flag":  func(v Value) { say(v.Flag()) },
		"count": func(v Value) { say(v.Count()) },
		"word":  func(v Value) { say(v.Word("one", "two")) },
		"time":  func(v Value) { say(v.Duration()) },
		"any":   func(v Value) { fmt.Fprintf(&b, "%v at %s\n", v.IsNumber(), v.Position()) },
		"json": func(v Value) {
			text, ok := v.Object()
			say(string(text), ok)
		},
		"each": func(v Value) { v.Each(func(key string, v Value) { fmt.Fprintf(&b, "%s=", key); say(v.Text()) }) },
	})
	if err := d.Err(); err != nil {
		fmt.Fprintln(&b, render(err))
	}
	return b.String()
}

// TestDocumentMessages reads every archive in testdata/document, which contains a document and the
// messages about it.
func TestDocumentMessages(t *testing.T) {
	paths, err := filepath.Glob("testdata/document/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no goldens: %v", err)
	}
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		got := readAll(string(written(t, archive.Files[0].Data)), Text)
		if *update {
			archive.Files[1].Data = []byte(got)
			put(t, path, txtar.Format(archive))
		}
		if diff := cmp.Diff(string(archive.Files[1].Data), got); diff != "" {
			t.Errorf("%s: -want +got\n%s", path, diff)
		}
	}
}

func TestDocuments(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"values", "text: a\nflag: true\ncount: 3\nword: two\ntime: 2m\nany: 4", "a true\ntrue true\n3 true\ntwo true\n2m0s true\ntrue at d.yaml:6:6\n"},
		{"one or several texts", "texts: a", "[\"a\"]\n"},
		{"several texts", "texts: [a, 'b c']", "[\"a\" \"b c\"]\n"},
		{"entries", "each: {b: x, a: z}", "b=x true\na=z true\n"},
		{"JSON keeps order and numbers", "json: {b: 1.50, a: [x, null, true, {}], 'c d': \"\\\"&\"}", `{"b":1.50,"a":["x",null,true,{}],"c d":"\"&"} true` + "\n"},
		{"JSON knows fewer numbers", "json: {a: 0x10}", "{\"a\":0x10} false\nd.yaml:1:11: \"0x10\" is not a JSON number (quote it, or write a JSON number)\n"},
		{"JSON takes a key once", "json: {a: 1, a: 2}", "{\"a\":1} false\nd.yaml:1:14: duplicate key \"a\" (the first is at 1:8)\n"},
		{"no object", "json: [1]", " false\nd.yaml:1:7: \"json\" must be a mapping, not a list\n"},
		{"no text", "text: ''\ntexts: [1]", " false\n[]\nd.yaml:1:7: \"text\" is empty\nd.yaml:2:9: an entry of \"texts\" must be text, not a number (put it in quotes)\n"},
		{"no list", "texts: 1", "[]\nd.yaml:1:8: \"texts\" must be a list, not a number\n"},
		{"no word", "word: tow\ntime: soon", " false\n0s false\nd.yaml:1:7: \"word\": unknown value \"tow\" (did you mean \"two\"?)\nd.yaml:2:7: \"time\": \"soon\" is not a duration (for example 2m30s)\n"},
		{"neither text nor flag", "word: 1\ntime: 2\nflag: yes", " false\n0s false\nfalse false\nd.yaml:1:7: \"word\" must be text, not a number (put it in quotes)\nd.yaml:2:7: \"time\" must be text, not a number (put it in quotes)\nd.yaml:3:7: \"flag\" must be true or false, not text (write true)\n"},
		{"empty", "", "d.yaml:1:1: the file is empty\n"},
		{"no YAML", "a: [", "d.yaml:1:4: sequence end token ']' not found\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, readAll(tt.text, error.Error)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
