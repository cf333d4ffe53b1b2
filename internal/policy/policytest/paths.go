package policytest

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/petrigate/petrigate/internal/text"
)

// Suffix is the suffix of the names of test files.
const Suffix = "_test.yaml"

// Find returns the test files that a path denotes. The path is a single file or a directory; if it
// ends in "...", the files below the directory are also returned. Find skips subdirectories whose
// names begin with a dot or are "node_modules".
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
		return nil, fmt.Errorf("looking for tests below %s: it is not a folder", dir)
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
		where := "in " + dir + "; write " + strings.TrimSuffix(path, "/") + "/... to look below it too"
		if below {
			where = "in or below " + dir
		}
		err = fmt.Errorf("no file *%s %s", Suffix, where)
	}
	return found, err
}

func hidden(folder string) bool { return strings.HasPrefix(folder, ".") || folder == "node_modules" }
