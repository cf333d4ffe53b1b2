package archtest

import (
	"errors"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// TestOtherSystems checks for other operating systems that each package declares the names that its
// files use. Imported packages are not read, so it takes a second for each system and finds no missing members.
func TestOtherSystems(t *testing.T) {
	for _, system := range []string{"darwin", "windows"} {
		t.Run(system, func(t *testing.T) {
			t.Parallel()
			target := build.Default
			target.GOOS, target.CgoEnabled = system, false
			err := filepath.WalkDir("../..", func(dir string, d fs.DirEntry, err error) error {
				switch name := filepath.Base(dir); {
				case err != nil:
					return err
				case !d.IsDir():
					return nil
				case name == "testdata" || name == "node_modules" || strings.HasPrefix(name, ".") && name != "..":
					return filepath.SkipDir
				}
				p, err := target.ImportDir(dir, 0)
				if none := (*build.NoGoError)(nil); errors.As(err, &none) {
					return nil
				} else if err != nil {
					return err
				}
				checkNames(t, dir, append(p.GoFiles, p.TestGoFiles...))
				checkNames(t, dir, p.XTestGoFiles)
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// checkNames reports the undefined names of a package that consists of the given files.
func checkNames(t *testing.T, dir string, names []string) {
	t.Helper()
	set := token.NewFileSet()
	var files []*ast.File
	imported := "" // the imported paths; a package can have another name than the last element of its path
	for _, name := range names {
		f, err := parser.ParseFile(set, filepath.Join(dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Error(err)
			return
		}
		files = append(files, f)
		for _, i := range f.Imports {
			imported += i.Path.Value
		}
	}
	config := types.Config{
		FakeImportC: true,
		Importer:    unread{},
		Error: func(err error) {
			// Other errors, such as missing members, can come from the packages that are not read.
			if _, name, found := strings.Cut(err.Error(), " undefined: "); found && !strings.Contains(imported, name) {
				t.Error(err)
			}
		},
	}
	_, _ = config.Check(dir, set, files, nil) // the errors were passed to Error
}

// unread is an importer that reads no package. The checker then accepts every use of its names.
type unread struct{}

func (unread) Import(path string) (*types.Package, error) {
	return nil, errors.New(path + " is not read")
}
