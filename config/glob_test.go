package config

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestGlobMatchesLikeFilepath checks that patterns find the same files as filepath.Glob, and that
// patterns that would examine too many names are rejected.
func TestGlobMatchesLikeFilepath(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a/x.rules", "a/y.rules", "b[1]/x.rules", "b[1]/c/z.rules", "d.rules/in.rules", "top.rules", "top.txt"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("block x\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, pattern := range []string{"*", "*.rules", "*/*.rules", "*/*/*.rules", "a/[xz].rules", "none/*", "top.rules/*", "top.txt", "none", "?/x.rules", "a/"} {
		full := filepath.Join(dir, pattern)
		want, _ := filepath.Glob(full)
		got, err := (&globber{left: maxGlobNames}).glob(full)
		slices.Sort(got)
		slices.Sort(want)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v; want %q", pattern, got, err, want)
		}
	}
	t.Chdir(dir)
	if got, err := (&globber{left: maxGlobNames}).glob("*.txt"); err != nil || !slices.Equal(got, []string{"top.txt"}) {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := (&globber{left: maxGlobNames}).glob("["); !errors.Is(err, filepath.ErrBadPattern) {
		t.Error(err)
	}
	for _, left := range []int{3, 8} { // exceeded in the first directory and in the directories below it
		if got, err := (&globber{left: left}).glob(filepath.Join(dir, "*", "*.rules")); !errors.Is(err, errManyNames) {
			t.Errorf("%d: %q, %v", left, got, err)
		}
	}
	if e := globError("/*/*", errManyNames); e.Hint == "" || globError("x", filepath.ErrBadPattern).Hint != "" {
		t.Error(e)
	}
}
