package shadow

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/petrigate/petrigate/config"
)

// TestEnforceChangesOneWord checks that only one word changes, however the file is formatted.
func TestEnforceChangesOneWord(t *testing.T) {
	for src, want := range map[string]string{
		"version: 1\nmode: shadow\n":                         "version: 1\nmode: enforce\n",
		"\ufeffmode: shadow # as yet\r\nversion: 1\r\n":      "\ufeffmode: enforce # as yet\r\nversion: 1\r\n",
		"# mode: shadow\nmode:   'shadow'\nversion: 1":       "# mode: shadow\nmode:   'enforce'\nversion: 1",
		"version: 1\nmode:\n  shadow\n":                      "version: 1\nmode:\n  enforce\n",
		"{ version: 1, log: { level: info }, mode: shadow }": "{ version: 1, log: { level: info }, mode: enforce }",
		`{"version": 1, "note_é": 1, "mode":"shadow"}`:       "",
		`{"version": 1, /* é */ "mode":"shadow"}`:            `{"version": 1, /* é */ "mode":"enforce"}`,
		"version: 1\nmode: &m shadow\n":                      "version: 1\nmode: &m enforce\n",
		"version: 1\nmode: \"sh\\x61dow\"\n":                 "",
		"version: 1\nmode: enforce\n":                        "version: 1\nmode: enforce\n",
		"version: 1\nrules: shadow block rm\n":               "version: 1\nrules: shadow block rm\n",
	} {
		file := filepath.Join(t.TempDir(), "petrigate.yaml")
		if err := os.WriteFile(file, []byte(src), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := config.Load(config.Options{Path: file})
		if err != nil {
			if want != "" {
				t.Errorf("%q: %v", src, err)
			}
			continue
		}
		e, err := newEnforcement(c)
		switch {
		case want == "" && !errors.Is(err, errMode):
			t.Errorf("%q: %v", src, err)
		case want != "" && (err != nil || string(e.after) != want):
			t.Errorf("%q: %v, %+v", src, err, e)
		}
	}
}

// TestEnforceLeavesChangedFile checks that a file is not overwritten if it has changed since it was
// read.
func TestEnforceLeavesChangedFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "petrigate.yaml")
	if err := os.WriteFile(file, []byte("version: 1\nmode: shadow\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(config.Options{Path: file})
	if err != nil {
		t.Fatal(err)
	}
	e, err := newEnforcement(c)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	written, err := e.write(Options{Out: &out, Ask: func(string) (bool, error) {
		return true, os.WriteFile(c.File, []byte("version: 1\n"), 0o600)
	}})
	now, _ := os.ReadFile(c.File)
	if written || !errors.Is(err, errChanged) || string(now) != "version: 1\n" {
		t.Errorf("%v, %v: %q\n%s", written, err, now, out.String())
	}
}
