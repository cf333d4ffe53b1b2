package rules_test

import (
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/petrigate/petrigate/rules"
)

var update = flag.Bool("update", false, "write what was got as what is wanted")

// TestProblems compiles each archive's files together and compares the problems with "want". Bytes
// that are awkward in a text file are written in hexadecimal: «e2808b».
func TestProblems(t *testing.T) {
	archives, err := filepath.Glob("testdata/errors/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, path := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			inputs, want := archive.Files, ""
			if last := inputs[len(inputs)-1]; last.Name == "want" {
				inputs, want = inputs[:len(inputs)-1], string(last.Data)
			}
			got := problems(t, inputs)
			if *update {
				archive.Files = append(inputs, txtar.File{Name: "want", Data: []byte(got)})
				if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func problems(t *testing.T, inputs []txtar.File) string {
	t.Helper()
	var files []*rules.File
	for _, in := range inputs {
		f, errs := rules.Parse(in.Name, unhex(t, in.Data))
		onePerLine(t, errs)
		files = append(files, f)
	}
	compiled, err := rules.Compile(files...)
	var errs rules.ErrorList
	if err != nil && !errors.As(err, &errs) {
		t.Fatalf("the error is a %T", err)
	}
	onePerLine(t, errs)
	var b strings.Builder
	for _, e := range errs {
		fmt.Fprintf(&b, "%s %s\n%s", e.Code, e, e.Excerpt())
	}
	for _, w := range compiled.Warnings {
		fmt.Fprintf(&b, "%s %s\n%s", w.Code, w, w.Excerpt())
	}
	return b.String()
}

// onePerLine checks that errors are sorted, with at most one per line.
func onePerLine(t *testing.T, errs rules.ErrorList) {
	t.Helper()
	for i := 1; i < len(errs); i++ {
		a, b := errs[i-1].Pos, errs[i].Pos
		if a.File == b.File && a.Line >= b.Line {
			t.Errorf("%s comes before %s", a, b)
		}
	}
}

var hexBytes = regexp.MustCompile(`«([0-9a-f]+)»`)

func unhex(t *testing.T, src []byte) []byte {
	t.Helper()
	return hexBytes.ReplaceAllFunc(src, func(m []byte) []byte {
		b, err := hex.DecodeString(string(hexBytes.FindSubmatch(m)[1]))
		if err != nil {
			t.Fatal(err)
		}
		return b
	})
}

// TestEveryCode finds codes that no archive covers.
func TestEveryCode(t *testing.T) {
	shown := make(map[string]bool)
	archives, _ := filepath.Glob("testdata/errors/*.txtar")
	for _, path := range archives {
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, code := range regexp.MustCompile(`(?m)^[EW]\d{3} `).FindAllString(string(src), -1) {
			shown[strings.TrimSpace(code)] = true
		}
	}
	src, err := os.ReadFile("errors.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`Code = "([EW]\d{3})"`).FindAllStringSubmatch(string(src), -1) {
		if !shown[m[1]] {
			t.Errorf("no archive shows %s", m[1])
		}
	}
}

func TestErrorList(t *testing.T) {
	_, errs := rules.Parse("p.rules", []byte("blok a\nblock"))
	want := "p.rules:1:1: unknown statement \"blok\" (did you mean \"block\"?)\np.rules:2:6: the name to block is missing (write: block A)"
	if got := errs.Error(); got != want {
		t.Errorf("Error() = %s", got)
	}
	var one *rules.Error
	if !errors.As(error(errs), &one) || one.Code != rules.UnknownKeyword {
		t.Errorf("errors.As found %v", one)
	}
	if got := (&rules.Error{Msg: "m"}).Excerpt(); got != "" {
		t.Errorf("an excerpt of nothing: %q", got)
	}
}
