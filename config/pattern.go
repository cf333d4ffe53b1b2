package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// A textFile is a file that a "file" key matched.
type textFile struct{ name, text string }

// files reads what the pattern of a "file" key matches. Rules that are not
// there would allow what they forbid, so every doubt is an error.
func (d *decoder) files(key, value *node) []textFile {
	if !d.is(value, textKind, quoted(key)) {
		return nil
	}
	files, err := d.match(value.text)
	if err != nil {
		d.at(value, err.Error(), "")
	}
	for _, f := range files {
		if writable(f.name) {
			d.warn(value, fmt.Sprintf("anybody may change %q", f.name), "chmod o-w")
		}
	}
	return files
}

// match reads the files of a pattern in the byte order of their names.
func (e *environment) match(pattern string) ([]textFile, error) {
	names, err := e.glob(pattern)
	if err != nil {
		return nil, err
	}
	files := make([]textFile, 0, len(names))
	for _, name := range names {
		data, err := readFile(name, maxSize)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("no file matches %q", pattern)
		case err != nil:
			return nil, fmt.Errorf("reading %q: %v", name, cause(err))
		case strings.TrimSpace(string(data)) == "":
			return nil, fmt.Errorf("the file %q is empty", name)
		}
		files = append(files, textFile{name, string(data)})
	}
	return files, nil
}

func (e *environment) glob(pattern string) ([]string, error) {
	switch {
	case pattern == "":
		return nil, errors.New(`"file" is empty`)
	case strings.Contains(pattern, "**"):
		return nil, fmt.Errorf("%q: ** is not supported, * stays within one directory", pattern)
	case !strings.ContainsAny(pattern, "*?["):
		return []string{e.path(pattern)}, nil
	}
	if literal := e.path(pattern); exists(literal) {
		return []string{literal}, nil
	}
	full := pattern
	if !filepath.IsAbs(pattern) {
		full = filepath.Join(escape(e.dir), pattern)
	}
	names, err := filepath.Glob(full)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%q is no pattern: %v", pattern, err)
	case len(names) == 0:
		return nil, fmt.Errorf("no file matches %q", pattern)
	}
	slices.Sort(names)
	return names, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// escape makes a directory mean itself in a pattern.
func escape(dir string) string {
	if runtime.GOOS == "windows" {
		return dir
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}
