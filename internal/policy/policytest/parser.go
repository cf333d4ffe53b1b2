package policytest

import (
	"path/filepath"

	"github.com/petrigate/petrigate/config"
)

// A parser converts the values of a file into tests.
type parser struct {
	root config.Value
	file *File
	seen map[string]bool // names of the tests so far
}

// near resolves a path relative to the directory of the file.
func (p *parser) near(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(p.file.Name), path)
}
