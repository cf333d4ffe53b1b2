package lsp

import (
	"encoding/json"
	"maps"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A document is open in the editor. It does not change: a change makes another.
type document struct {
	*content
	uri     string
	path    string // the URI itself where it names no file
	version int
	kind    fileKind
	refused string // why the text is not looked at; empty: it is
}

// A fileKind is what a file holds.
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

// kindOf tells by its name what a file holds.
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

// pathOf returns the file of a URI, or the URI where it names none.
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

// uriOf returns the URI of a file.
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

func (s *server) didOpen(params json.RawMessage) {
	var p didOpenParams
	if json.Unmarshal(params, &p) != nil {
		return
	}
	o := p.TextDocument
	d := &document{content: newContent(o.Text), uri: o.URI, path: pathOf(o.URI), version: o.Version}
	if d.kind = kindOf(d.path); d.kind == otherFile && strings.HasPrefix(o.LanguageID, "petrigate") {
		d.kind = rulesFile
	}
	s.take(d)
}

func (s *server) didChange(params json.RawMessage) {
	var p didChangeParams
	if json.Unmarshal(params, &p) != nil {
		return
	}
	old := s.document(pathOf(p.TextDocument.URI))
	if old == nil {
		return
	}
	t := old.content
	for _, change := range p.ContentChanges {
		src := change.Text
		if change.Range != nil {
			from := t.offset(change.Range.Start)
			to := max(from, t.offset(change.Range.End))
			src = t.src[:from] + change.Text + t.src[to:]
		}
		t = newContent(src)
	}
	d := *old
	d.content, d.version = t, p.TextDocument.Version
	s.take(&d)
}

// take takes a text, and has it checked.
func (s *server) take(d *document) {
	d.refused = d.tooLarge()
	s.put(d)
	if d.kind == configFile || d.kind == netFile {
		s.recheckAll() // files may belong to it, or not any more
		return
	}
	s.recheck(d.path)
}

func (s *server) didClose(params json.RawMessage) {
	var p documentParams
	if json.Unmarshal(params, &p) != nil {
		return
	}
	s.remove(pathOf(p.TextDocument.URI))
	s.recheckAll() // what is on the disk holds again
}

// recheckAll has all documents checked.
func (s *server) recheckAll() {
	s.recheck(slices.Collect(maps.Keys(s.documents()))...)
}

// recheck ends the check that runs, and begins the next soon.
func (s *server) recheck(paths ...string) {
	s.outdate(paths...)
	select {
	case s.wake <- struct{}{}:
	default:
	}
}
