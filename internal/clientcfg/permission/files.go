package permission

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/petrigate/petrigate/internal/clientcfg"
	"github.com/petrigate/petrigate/internal/clientcfg/splice"
)

// files locates the permission files in the user's home directory and in the project.
type files struct {
	clientcfg.System
	project string
}

// home returns a path below a directory. The directory is the value of the given environment
// variable. If the variable is not set, it is the given folder of the home directory.
func (f files) home(variable, folder string, parts ...string) string {
	dir, ok := f.Env(variable)
	if !ok || dir == "" {
		dir = filepath.Join(f.Home, folder)
	}
	return filepath.Join(append([]string{dir}, parts...)...)
}

// in returns the path of a file in the project, given the elements of its relative path.
func (f files) in(parts ...string) string {
	return filepath.Join(append([]string{f.project}, parts...)...)
}

// read parses a file and converts its content to lines. It returns nil if the file does not exist.
// If the file cannot be read or parsed, read returns a single [Line] that describes the error.
func (f files) read(path string, format splice.Format, lines func(d *splice.Document) []Line) []Line {
	src, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var d *splice.Document
	if err == nil {
		d, err = splice.Parse(path, src, format)
	}
	if err != nil {
		return []Line{unreadable(path, err)}
	}
	all := lines(d)
	for i := range all {
		all[i].Where = f.short(path) + ": " + all[i].Where
	}
	return all
}

func unreadable(path string, err error) Line {
	return Line{Where: path, Text: "the file", why: "it cannot be read: " + err.Error()}
}

// short replaces the home directory in a path with ~.
func (f files) short(path string) string {
	if rest, ok := strings.CutPrefix(path, f.Home+string(filepath.Separator)); ok {
		return "~/" + filepath.ToSlash(rest)
	}
	return path
}
