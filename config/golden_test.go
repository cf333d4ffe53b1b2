package config

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write what the goldens should say")

// TestGolden reads every archive in testdata. An archive contains petrigate.yaml and other files in
// its directory; "env" and "flags", with one NAME=value per line; "modes", with file modes in the
// same form; "partial" for [Options.Partial]; "found" for [Options.Found]; and "want" with the
// expected output, which is either the problems or the warnings and the configuration. Without a
// petrigate.yaml, the test searches for a configuration.
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
	vars, flags, modes := map[string]string{}, map[string]string{}, map[string]string{}
	for i, f := range archive.Files {
		switch f.Name {
		case "want":
			want = &archive.Files[i]
		case "env":
			vars = settings(f.Data)
		case "flags":
			flags = settings(f.Data)
		case "modes":
			modes = settings(f.Data)
		default:
			put(t, filepath.Join(dir, f.Name), written(t, f.Data))
		}
	}
	for name, mode := range modes {
		chmod(t, filepath.Join(dir, name), mode)
	}
	got := outcome(dir, vars, flags)
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

// settings parses lines of the form NAME=value.
func settings(data []byte) map[string]string {
	all := map[string]string{}
	for _, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		name, value, _ := strings.Cut(line, "=")
		all[name] = value
	}
	return all
}

// written expands a file in an archive: «ff» stands for that byte, and «3×x» stands for xxx.
func written(t *testing.T, data []byte) []byte {
	t.Helper()
	return regexp.MustCompile(`«[^»]*»`).ReplaceAllFunc(data, func(b []byte) []byte {
		inner := strings.TrimSuffix(strings.TrimPrefix(string(b), "«"), "»")
		if times, text, ok := strings.Cut(inner, "×"); ok {
			n, err := strconv.Atoi(times)
			if err != nil {
				t.Fatal(err)
			}
			return bytes.Repeat([]byte(text), n)
		}
		raw, err := hex.DecodeString(inner)
		if err != nil {
			t.Fatal(err)
		}
		return raw
	})
}

func chmod(t *testing.T, path, mode string) {
	t.Helper()
	bits, err := strconv.ParseUint(mode, 8, 32)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, os.FileMode(bits)); err != nil {
		t.Fatal(err)
	}
}

func outcome(dir string, vars, flags map[string]string) string {
	o := Options{Path: filepath.Join(dir, "petrigate.yaml"), Env: from(vars), Flags: flags}
	if _, err := os.Stat(o.Path); err != nil {
		o.Path, vars["XDG_CONFIG_HOME"] = "", dir
	}
	_, err := os.Stat(filepath.Join(dir, "partial"))
	o.Partial = err == nil
	_, err = os.Stat(filepath.Join(dir, "found"))
	o.Found = err == nil
	c, err := Load(o)
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

// from returns a lookup function over a map of variables.
func from(vars map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		value, ok := vars[name]
		return value, ok
	}
}
