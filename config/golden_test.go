package config

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write what the goldens should say")

// TestGolden reads every archive in testdata: petrigate.yaml and the files
// beside it, "env" with one NAME=value a line, and "want" with what a person
// sees: the problems, or the warnings and the configuration.
func TestGolden(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no goldens: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) { golden(t, path) })
	}
}

func golden(t *testing.T, path string) {
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var want *txtar.File
	vars := map[string]string{}
	for i, f := range archive.Files {
		switch f.Name {
		case "want":
			want = &archive.Files[i]
		case "env":
			for _, line := range strings.Split(strings.TrimSpace(string(f.Data)), "\n") {
				name, value, _ := strings.Cut(line, "=")
				vars[name] = value
			}
		default:
			put(t, filepath.Join(dir, f.Name), f.Data)
		}
	}
	got := outcome(dir, vars)
	switch {
	case want == nil && *update:
		archive.Files = append(archive.Files, txtar.File{Name: "want", Data: []byte(got)})
	case want == nil:
		t.Fatal("there is no file want")
	case *update:
		want.Data = []byte(got)
	default:
		if diff := cmp.Diff(string(want.Data), got); diff != "" {
			t.Errorf("-want +got\n%s", diff)
		}
		return
	}
	if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
		t.Fatal(err)
	}
}

func put(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

func outcome(dir string, vars map[string]string) string {
	c, err := Load(Options{Path: filepath.Join(dir, "petrigate.yaml"), Env: from(vars)})
	var b strings.Builder
	if err != nil {
		fmt.Fprintln(&b, Text(err))
	} else {
		if len(c.Warnings) > 0 {
			fmt.Fprintln(&b, c.Warnings.Text())
		}
		c.Warnings = nil
		text, err := json.MarshalIndent(c, "", " ")
		if err != nil {
			fmt.Fprintln(&b, err)
		}
		fmt.Fprintln(&b, string(text))
	}
	return strings.ReplaceAll(b.String(), dir+string(filepath.Separator), "")
}

// from is a lookup of variables in a map.
func from(vars map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		value, ok := vars[name]
		return value, ok
	}
}
