package policytest

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/petrigate/petrigate/internal/text"
)

// Suffix is the file name suffix of test files.
const Suffix = "_test.yaml"

// Find returns the test files denoted by path, which is a file or a directory. If path ends in
// "...", Find also searches the subdirectories, except those named node_modules and those with
// names that begin with a dot.
func Find(path string) ([]string, error) {
	dir, below := strings.CutSuffix(filepath.ToSlash(path), "...")
	if below {
		dir = filepath.Clean(filepath.FromSlash(dir + "."))
	} else {
		dir = filepath.Clean(path)
	}
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return nil, fmt.Errorf("looking for tests in %s: %w", dir, text.Innermost(err))
	case !info.IsDir() && below:
		return nil, fmt.Errorf("looking for tests in %s: it is not a folder", dir)
	case !info.IsDir():
		return []string{dir}, nil
	}
	var found []string
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fmt.Errorf("looking for tests in %s: %w", name, text.Innermost(err))
		case d.IsDir() && name != dir && (!below || hidden(d.Name())):
			return fs.SkipDir
		case !d.IsDir() && strings.HasSuffix(name, Suffix):
			found = append(found, name)
		}
		return nil
	})
	if err == nil && len(found) == 0 {
		where := "in " + dir + "; write " + strings.TrimSuffix(path, "/") + "/... to include its subfolders"
		if below {
			where = "in or under " + dir
		}
		err = fmt.Errorf("no file *%s %s", Suffix, where)
	}
	return found, err
}

func hidden(folder string) bool { return strings.HasPrefix(folder, ".") || folder == "node_modules" }
