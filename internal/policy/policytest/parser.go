package policytest

import (
	"path/filepath"

	"github.com/petrigate/petrigate/config"
)

// A parser converts the values in a test file to tests.
type parser struct {
	root config.Value
	file *File
	seen map[string]bool // names of the tests parsed so far
}

// near resolves a path relative to the test file's directory.
func (p *parser) near(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(p.file.Name), path)
}
