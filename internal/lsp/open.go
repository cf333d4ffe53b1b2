package lsp

import (
	"maps"
	"slices"
	"strings"
)

func (s *server) didOpen(p didOpenParams) {
	o := p.TextDocument
	d := &document{content: newContent(o.Text), uri: o.URI, path: pathOf(o.URI), version: o.Version}
	if d.kind = kindOf(d.path); d.kind == otherFile && strings.HasPrefix(o.LanguageID, "petrigate") {
		d.kind = rulesFile
	}
	s.update(d)
}

func (s *server) didChange(p didChangeParams) {
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
	s.update(&d)
}

// update stores a changed document and schedules a check.
func (s *server) update(d *document) {
	d.refused = d.tooLarge()
	s.setDocument(d)
	if d.kind == configFile || d.kind == netFile {
		s.recheckAll() // the configuration may now list other files
		return
	}
	s.recheck(d.path)
}

func (s *server) didClose(p documentParams) {
	s.remove(pathOf(p.TextDocument.URI))
	s.recheckAll() // from now on, the content of the file is read from disk
}

// recheckAll schedules a check of all documents.
func (s *server) recheckAll() {
	s.recheck(slices.Collect(maps.Keys(s.documents()))...)
}

// recheck marks documents as stale, cancels the running check and schedules another one.
func (s *server) recheck(paths ...string) {
	s.markStale(paths...)
	select {
	case s.wake <- struct{}{}:
	default:
	}
}
