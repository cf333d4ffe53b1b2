package lsp

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/policy"
)

// A project is the policy that a document belongs to.
type project struct {
	main     string // path of the configuration; if no configuration lists the document, path of the document
	source   policy.Source
	problems diag.List // problems found while loading the files, before the policy is built
	broken   bool      // whether errors in the files prevent the policy from being built
}

// lists reports whether the policy includes the file with the given path.
func (p *project) lists(path string) bool { return slices.Contains(p.files(), path) }

// files returns the policy's files, including the configuration.
func (p *project) files() []string {
	files := []string{p.main}
	add := func(file string) {
		if !isURL(file) {
			files = append(files, filepath.Clean(file))
		}
	}
	for _, r := range p.source.Rules {
		add(r.File)
	}
	for _, n := range p.source.Nets {
		add(n.Position.File)
	}
	slices.Sort(files)
	return slices.Compact(files)
}

// relocate returns a problem with a position that an editor can open. For a problem in a base
// policy that was read from a URL, this is the position of the base policy's entry in the
// configuration.
func (p *project) relocate(q diag.Problem) diag.Problem {
	if !isURL(q.File) {
		return q
	}
	q.Msg, q.Excerpt = q.Place()+": "+q.Msg, ""
	at := config.Position{File: p.main}
	if c := p.source.Config; c != nil {
		if i := slices.IndexFunc(c.Bases, func(b config.Base) bool { return b.File == q.File }); i >= 0 {
			at = c.Bases[i].Entry
		}
	}
	q.File, q.Line, q.Column = at.File, at.Line, at.Column
	return q
}

// isURL reports whether a policy's file is given by a URL, which an editor cannot open.
func isURL(file string) bool {
	return strings.HasPrefix(file, "https://") || strings.HasPrefix(file, "http://")
}
