package rules_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/rules"
)

const codesPage = "../docs/codes.md"

// TestCodesPage checks that docs/codes.md contains each of the product's codes exactly once, and no
// other code.
func TestCodesPage(t *testing.T) {
	page, err := os.ReadFile(codesPage)
	if err != nil {
		t.Fatal(err)
	}
	var documented []string
	for _, m := range regexp.MustCompile(`(?m)^### ([A-Z]\d{3}): `).FindAllStringSubmatch(string(page), -1) {
		if slices.Contains(documented, m[1]) {
			t.Errorf("%s is on the page twice", m[1])
		}
		documented = append(documented, m[1])
	}
	defined := definedCodes(t)
	for code, where := range defined {
		if !slices.Contains(documented, code) {
			t.Errorf("%s does not explain %s of %s", codesPage, code, where)
		}
	}
	for _, code := range documented {
		if defined[code] == "" {
			t.Errorf("%s explains %s, which there is not", codesPage, code)
		}
	}
}

// definedCodes returns the codes in the product's source, with their files.
func definedCodes(t *testing.T) map[string]string {
	t.Helper()
	code := regexp.MustCompile(`(?m)^\t\w+(?:\s+Code)?\s*=\s*"([EW]\d{3})"`)
	defined, used := make(map[string]string), make(map[string]string)
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		src, err := os.ReadFile(path)
		for _, m := range regexp.MustCompile(`"([EW]\d{3})"`).FindAllStringSubmatch(string(src), -1) {
			used[m[1]] = path
		}
		for _, m := range code.FindAllStringSubmatch(string(src), -1) {
			if defined[m[1]] != "" {
				t.Errorf("%s stands for two problems, in %s and %s", m[1], defined[m[1]], path)
			}
			defined[m[1]] = path
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for code, path := range used {
		if defined[code] == "" {
			t.Errorf("%s is used in %s, and is no constant", code, path)
		}
	}
	return defined
}

// TestCodesPageExamples compiles the examples in docs/codes.md: an entry's first text has its
// problem, the second has no problem.
func TestCodesPageExamples(t *testing.T) {
	page, err := os.ReadFile(codesPage)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range strings.Split(string(page), "\n### ")[1:] {
		code := entry[:4]
		if code[1] != '0' {
			continue // tests in cmd/petrigate check these
		}
		blocks := regexp.MustCompile("(?s)```rules\n(.*?)```").FindAllStringSubmatch(entry, -1)
		if len(blocks) != 2 {
			t.Errorf("%s shows %d texts, not one with the problem and one without", code, len(blocks))
		}
		for i, block := range blocks {
			got := codesOf(t, block[1])
			switch {
			case i == 0 && !slices.Equal(slices.Compact(got), []string{code}):
				t.Errorf("%s: the example has %v", code, got)
			case i == 1 && len(got) > 0:
				t.Errorf("%s: what is right has %v", code, got)
			}
		}
	}
}

// codesOf returns the codes of all problems in a text.
func codesOf(t *testing.T, src string) []string {
	t.Helper()
	f, _ := rules.Parse("page.rules", unhex(t, []byte(src)))
	compiled, err := rules.Compile(f)
	var codes []string
	if err != nil {
		for _, e := range err.(rules.ErrorList) {
			codes = append(codes, string(e.Code))
		}
	}
	for _, w := range compiled.Warnings {
		codes = append(codes, string(w.Code))
	}
	return codes
}
