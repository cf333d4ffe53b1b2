package process

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestFind(t *testing.T) {
	dir := t.TempDir()
	tool := filepath.Join(dir, "petrigate-tool")
	if err := os.WriteFile(tool, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", "/nonexistent")
	own := map[string]string{"PATH": "relative" + string(filepath.ListSeparator) + dir}
	for name, c := range map[string]struct {
		command, dir string
		own          map[string]string
		want         string
	}{
		"absolute":          {command: tool, want: tool},
		"relative to dir":   {command: "./petrigate-tool", dir: dir, want: tool},
		"not in our PATH":   {command: "petrigate-tool", dir: dir},
		"in its own PATH":   {command: "petrigate-tool", own: own, want: tool},
		"not in its PATH":   {command: "petrigate-other", own: own},
		"no such file":      {command: "./petrigate-other", dir: dir, own: own},
		"a directory it is": {command: dir},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Find(c.command, c.dir, c.own)
			if got != c.want || (err == nil) != (c.want != "") {
				t.Errorf("%q %v", got, err)
			}
		})
	}
}

func TestEnvironment(t *testing.T) {
	ours := []string{"PATH=/bin", "LC_TIME=C", "TOKEN=1", "SHELL=() { :; }", "=odd", "HOME=/root"}
	got := Environment(ours, map[string]string{"HOME": "/h", "TOKEN": "2"})
	if want := []string{"HOME=/h", "LC_TIME=C", "PATH=/bin", "TOKEN=2"}; !slices.Equal(got, want) {
		t.Error(got)
	}
}
