package lsp

import (
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
)

// A document is a file that is open in the editor. It is immutable; a change creates a new one.
type document struct {
	*content
	uri     string
	path    string // path of the file, or the URI itself if it is not a file URI
	version int
	kind    fileKind
	refused string // why the text is not checked; empty if it is checked
}

// A fileKind is a kind of file, determined by its name.
type fileKind uint8

const (
	otherFile fileKind = iota
	rulesFile
	netFile
	configFile
)

var (
	namesNet    = regexp.MustCompile(`\.net\.(yaml|yml|json)$`)
	namesConfig = regexp.MustCompile(`^\.?petrigate([-.][^/\\]*)?\.(yaml|yml|json)$`)
)

// kindOf returns the kind of the file with the given path.
func kindOf(path string) fileKind {
	switch {
	case strings.HasSuffix(path, ".rules"):
		return rulesFile
	case namesNet.MatchString(path):
		return netFile
	case namesConfig.MatchString(filepath.Base(path)):
		return configFile
	}
	return otherFile
}

var drive = regexp.MustCompile(`^/[A-Za-z]:`)

// pathOf returns the path in a file URI. Any other URI is returned unchanged.
func pathOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Path == "" {
		return uri
	}
	path := u.Path
	if drive.MatchString(path) {
		path = path[1:]
	}
	return filepath.Clean(filepath.FromSlash(path))
}

// uriOf returns the file URI of an absolute path. Any other path is returned unchanged.
func uriOf(path string) string {
	if !filepath.IsAbs(path) {
		return path
	}
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed
	}
	return (&url.URL{Scheme: "file", Path: slashed}).String()
}
