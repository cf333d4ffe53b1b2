package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/internal/text"
)

// readFiles reads the files that match the pattern in a "file" key. A file that cannot be read is
// an error, because without its rules, calls that they forbid would be allowed.
func readFiles(v Value) []RuleText {
	if !v.hasKind(textKind) {
		return nil
	}
	files, faults := v.match(v.text)
	for _, f := range faults {
		v.Fault(f.Msg, f.Hint)
	}
	for _, f := range files {
		if writable(f.File) {
			v.warn(v.node, fmt.Sprintf("any user can change %q", f.File), "chmod o-w")
		}
	}
	return files
}

// match reads the files that match the pattern, sorted by name. Despite the type of its result, the
// files may contain nets instead of rules.
func (e *environment) match(pattern string) (files []RuleText, faults ErrorList) {
	if e.closed {
		return nil, ErrorList{{Msg: fmt.Sprintf("a base policy must be one file and cannot read %q", pattern), Hint: "write it inline"}}
	}
	names, faults := e.glob(pattern)
	for _, name := range names {
		data, err := e.readFile(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			faults = append(faults, noFile(pattern, name))
		case err != nil:
			faults = append(faults, Error{Msg: fmt.Sprintf("reading %q: %v", name, cause(err))})
		case strings.TrimSpace(string(data)) == "":
			faults = append(faults, Error{Msg: fmt.Sprintf("the file %q is empty", name)})
		default:
			files = append(files, RuleText{File: name, Text: string(data)})
		}
	}
	return files, faults
}

// noFile returns the error for a pattern that matches no file. If possible, it suggests a file in
// the same directory with a similar name and the same extension.
func noFile(pattern, path string) Error {
	f := Error{Msg: fmt.Sprintf("no file matches %q", pattern)}
	var names []string
	ext := filepath.Ext(path)
	entries, _ := os.ReadDir(filepath.Dir(path))
	for _, entry := range entries {
		if name, ok := strings.CutSuffix(entry.Name(), ext); ok {
			names = append(names, name)
		}
	}
	if near := text.Nearest(strings.TrimSuffix(filepath.Base(path), ext), names); near != "" {
		f.Hint = fmt.Sprintf("did you mean %q?", near+ext)
	}
	return f
}

func (e *environment) glob(pattern string) ([]string, ErrorList) {
	switch {
	case pattern == "":
		return nil, ErrorList{{Msg: `"file" is empty`}}
	case strings.Contains(pattern, "**"):
		return nil, ErrorList{{Msg: fmt.Sprintf("%q: ** is not supported", pattern), Hint: "use *, which matches within one directory"}}
	case !strings.ContainsAny(pattern, "*?["):
		return []string{e.path(pattern)}, nil
	}
	literal := e.path(pattern)
	if _, err := os.Stat(literal); err == nil {
		return []string{literal}, nil
	}
	full := pattern
	if !filepath.IsAbs(pattern) {
		full = filepath.Join(escape(e.dir), pattern)
	}
	names, err := (&globber{left: maxGlobNames}).glob(full)
	switch {
	case err != nil:
		return nil, ErrorList{globError(pattern, err)}
	case len(names) == 0:
		return nil, ErrorList{{Msg: fmt.Sprintf("no file matches %q", pattern)}}
	}
	slices.Sort(names)
	return names, nil
}

// escape quotes the metacharacters in a directory name for use in a pattern.
func escape(dir string) string {
	if runtime.GOOS == "windows" {
		return dir
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

// readFile returns the contents of one of the user's files. If an editor has the file open,
// readFile returns the unsaved text.
func (e *environment) readFile(path string) ([]byte, error) {
	if e.unsaved != nil {
		if text, ok := e.unsaved(path); ok {
			return text, nil
		}
	}
	data, err := readFile(path, maxSize)
	if err == nil {
		e.recordSum(path, data)
	}
	return data, err
}

// recordSum records the SHA-256 checksum of a file.
func (e *environment) recordSum(path string, data []byte) {
	if e.sums == nil {
		e.sums = map[string]string{}
	}
	sum := sha256.Sum256(data)
	e.sums[path] = hex.EncodeToString(sum[:])
}
