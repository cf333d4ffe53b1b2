package rules

import (
	"fmt"
	"io/fs"
)

// Load reads, parses and compiles files of fsys together, in the order given.
// If the rules have errors, the error is an [ErrorList]; see [Compile].
func Load(fsys fs.FS, paths ...string) (*Compiled, error) {
	files := make([]*File, len(paths))
	for i, path := range paths {
		src, err := fs.ReadFile(fsys, path)
		if err != nil {
			return nil, fmt.Errorf("reading rules: %w", err)
		}
		files[i], _ = Parse(path, src) // its errors come with those of Compile
	}
	return Compile(files...)
}
