package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// mostLooked bounds the names that are looked at for a pattern: an editor has a file read at each keystroke.
const mostLooked = 50_000

// A globber finds the files of a pattern, as [filepath.Glob] does, and looks at so many names only.
type globber struct{ left int }

var errManyNames = fmt.Errorf("more than %d names would have to be looked at", mostLooked)

func (g *globber) glob(pattern string) (names []string, err error) {
	if _, err := filepath.Match(pattern, ""); err != nil {
		return nil, err
	}
	if !strings.ContainsAny(pattern, special()) {
		if _, err := os.Lstat(pattern); err != nil {
			return nil, nil
		}
		return []string{pattern}, nil
	}
	dir, last := filepath.Split(pattern)
	volume := filepath.VolumeName(dir)
	if len(dir) > len(volume)+1 {
		dir = dir[:len(dir)-1] // the separator
	}
	if dir == volume {
		dir += "."
	}
	dirs := []string{dir}
	if strings.ContainsAny(dir[len(volume):], special()) {
		if dirs, err = g.glob(dir); err != nil {
			return nil, err
		}
	}
	for _, d := range dirs {
		more, err := g.in(d, last)
		if err != nil {
			return nil, err
		}
		names = append(names, more...)
	}
	return names, nil
}

// special are the characters of patterns; a backslash separates directories on Windows.
func special() string {
	if os.PathSeparator == '\\' {
		return "*?["
	}
	return `*?[\`
}

// in finds the names of a directory that match. One that cannot be read has none.
func (g *globber) in(dir, pattern string) (names []string, err error) {
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

// tooMany is the fault of a pattern that is about too much of the disk.
func tooMany(pattern string, err error) *Error {
	if !errors.Is(err, errManyNames) {
		return nil
	}
	return &Error{Msg: fmt.Sprintf("%q: %v", pattern, err), Hint: `name the directory of the rules, as "rules/*.rules"`}
}
