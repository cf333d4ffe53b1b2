package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// maxGlobNames is the maximum number of directory entries to examine per pattern. The limit exists
// because an editor expands patterns on every keystroke.
const maxGlobNames = 50_000

// A globber expands patterns like [filepath.Glob] but examines only a limited number of directory
// entries.
type globber struct{ left int }

var errManyNames = fmt.Errorf("the pattern matches more than %d names", maxGlobNames)

func (g *globber) glob(pattern string) (names []string, err error) {
	if _, err := filepath.Match(pattern, ""); err != nil {
		return nil, err
	}
	if !strings.ContainsAny(pattern, metaCharacters()) {
		if _, err := os.Lstat(pattern); err != nil {
			return nil, nil
		}
		return []string{pattern}, nil
	}
	dir, last := filepath.Split(pattern)
	volume := filepath.VolumeName(dir)
	if len(dir) > len(volume)+1 {
		dir = dir[:len(dir)-1]
	}
	if dir == volume {
		dir += "."
	}
	dirs := []string{dir}
	if strings.ContainsAny(dir[len(volume):], metaCharacters()) {
		if dirs, err = g.glob(dir); err != nil {
			return nil, err
		}
	}
	for _, d := range dirs {
		more, err := g.matchesIn(d, last)
		if err != nil {
			return nil, err
		}
		names = append(names, more...)
	}
	return names, nil
}

// metaCharacters returns the characters with a special meaning in patterns. On Windows, the
// backslash is not included, because it separates directories.
func metaCharacters() string {
	if os.PathSeparator == '\\' {
		return "*?["
	}
	return `*?[\`
}

// matchesIn returns the entries of a directory that match the pattern. It ignores a directory that
// cannot be read.
func (g *globber) matchesIn(dir, pattern string) (names []string, err error) {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, nil
	}
	f, err := os.Open(dir)
	if err != nil {
		return nil, nil
	}
	defer func() { _ = f.Close() }()
	all, _ := f.Readdirnames(g.left + 1)
	if g.left -= len(all) + 1; g.left < 0 {
		return nil, errManyNames
	}
	for _, name := range all {
		if ok, _ := filepath.Match(pattern, name); ok {
			names = append(names, filepath.Join(dir, name))
		}
	}
	return names, nil
}

// globError returns the error for a pattern that could not be expanded.
func globError(pattern string, err error) Error {
	if errors.Is(err, errManyNames) {
		return Error{Msg: fmt.Sprintf("%q: %v", pattern, err), Hint: `name the directory of the rules, such as "rules/*.rules"`}
	}
	return Error{Msg: fmt.Sprintf("%q is not a pattern: %v", pattern, err)}
}
