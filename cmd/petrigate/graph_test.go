package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// TestExamplePicturesAreCurrent draws the nets of the examples and compares the result with the
// pictures in their folders. With -update-scripts, it writes the pictures.
func TestExamplePicturesAreCurrent(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the last digit of a coordinate may be another one here")
	}
	t.Setenv("WORKSPACE", t.TempDir())
	t.Setenv("DEPLOY_TOKEN", "x")
	t.Setenv("DISCORD_TOKEN", "x")
	configs, err := filepath.Glob("../../examples/*/petrigate.yaml")
	if err != nil || len(configs) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	for _, file := range configs {
		var out, errs bytes.Buffer
		if code := run(context.Background(), []string{"graph", "--config", file, "--format", "svg"}, stdio{out: &out, err: &errs}); code != exitOK {
			t.Fatalf("%s: exit %d: %s", file, code, errs.String())
		}
		picture := filepath.Join(filepath.Dir(file), "nets.svg")
		if *updateScripts {
			if err := os.WriteFile(picture, out.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		old, err := os.ReadFile(picture)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(old, out.Bytes()) {
			t.Errorf("%s is not what graph draws; -update-scripts draws it again", picture)
		}
	}
}
