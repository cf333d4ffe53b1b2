package config

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// seeds returns the files of the golden archives.
func seeds(f *testing.F) {
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range archive.Files {
			if strings.HasSuffix(file.Name, ".yaml") {
				f.Add(file.Data)
			}
		}
	}
}

// FuzzParse checks that no input breaks the reader, that each problem's position exists in the
// file, and that its message fits on a line.
func FuzzParse(f *testing.F) {
	seeds(f)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, src []byte) {
		_, err := Parse(filepath.Join(dir, "f"), src, Options{Env: from(map[string]string{"SECRET": "canary"})})
		inside(t, src, err)
	})
}

// FuzzParseNet is like FuzzParse but parses nets. It also checks that every net has a name and a
// position.
func FuzzParseNet(f *testing.F) {
	seeds(f)
	f.Add([]byte(`[{"name":"a","places":["p"],"initialMarking":{"p":1}}]`))
	f.Fuzz(func(t *testing.T, src []byte) {
		nets, err := ParseNet("f", src)
		inside(t, src, err)
		if err != nil {
			return
		}
		for _, net := range nets {
			if net.Name == "" || net.Position.Line < 1 || net.Position.Column < 1 {
				t.Errorf("%+v", net)
			}
		}
	})
}

func inside(t *testing.T, src []byte, err error) {
	if err == nil {
		return
	}
	var list ErrorList
	if !errors.As(err, &list) || len(list) == 0 {
		t.Fatalf("%T: %v", err, err)
	}
	lines := strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(src)), "\n")
	for _, e := range list {
		if e.Line < 0 || e.Line > len(lines)+1 || (e.Line > 0) != (e.Column > 0) {
			t.Errorf("%d:%d is outside of the file: %s", e.Line, e.Column, e.Msg)
		}
		if strings.Count(e.Excerpt, "\n") > 1 {
			t.Errorf("an excerpt of several lines: %q", e.Excerpt)
		}
	}
}
