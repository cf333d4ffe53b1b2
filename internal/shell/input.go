package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// withInput calls read. If fed is true, what it reads gets its standard input from a pipe in the
// script.
func (r *reader) withInput(fed bool, read func()) {
	defer func(input, piped bool) { r.input, r.piped = input, piped }(r.input, r.piped)
	r.input, r.piped = r.input || fed, r.piped || fed
	read()
}

// setsInput reports whether a redirection sets the standard input of a command.
func setsInput(list []*syntax.Redirect) bool {
	for _, rd := range list {
		switch rd.Op {
		case syntax.RdrIn, syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc, syntax.DplIn, syntax.RdrInOut:
			if rd.Word == nil || rd.Word.Lit() != "/dev/null" {
				return true
			}
		}
	}
	return false
}

// givesText reports whether a redirection gives a command text of the script as standard input.
func givesText(rd *syntax.Redirect) bool {
	return rd.Op == syntax.Hdoc || rd.Op == syntax.DashHdoc || rd.Op == syntax.WordHdoc
}

// hereDoc returns the expansion of a here document.
func (r *reader) hereDoc(w *syntax.Word) arg {
	var b wordBuilder
	for _, part := range w.Parts {
		b.part(r, part, true, false)
	}
	return b.arg()
}

// stdin returns the text that a statement gets through << or <<<, if it is literal.
func stdin(list []*syntax.Redirect) (text string, ok bool) {
	var found *syntax.Redirect
	for _, rd := range list {
		switch rd.Op {
		case syntax.DplOut, syntax.RdrOut, syntax.AppOut, syntax.RdrAll, syntax.AppAll, syntax.RdrClob:
			if rd.N == nil || rd.N.Value != "0" {
				continue
			}
		}
		if found != nil || rd.N != nil && rd.N.Value != "0" {
			return "", false
		}
		found = rd
	}
	if found == nil {
		return "", false
	}
	switch found.Op {
	case syntax.WordHdoc:
		return constant(found.Word, (*reader).word)
	case syntax.Hdoc, syntax.DashHdoc:
		return hereText(found)
	}
	return "", false
}

// hereText returns the text of a here document. If the delimiter is quoted, nothing is expanded.
func hereText(rd *syntax.Redirect) (text string, ok bool) {
	if rd.Hdoc == nil {
		return "", true
	}
	if !isQuoted(rd.Word) {
		return constant(rd.Hdoc, (*reader).hereDoc)
	}
	text = rd.Hdoc.Lit()
	return text, text != "" || len(rd.Hdoc.Parts) == 0
}

// constant returns the text of a word without expansions. Commands in expansions have already been
// read and are not read again.
func constant(w *syntax.Word, read func(*reader, *syntax.Word) arg) (text string, ok bool) {
	if !isText(w.Parts) {
		return "", false
	}
	a := read(&reader{}, w)
	return a.text, a.kind == literal
}

// isText reports whether parts of a word are only literal text and quotes. Quotes after a dollar
// sign do not count, since shells disagree about them.
func isText(parts []syntax.WordPart) bool {
	return !slices.ContainsFunc(parts, func(part syntax.WordPart) bool {
		switch p := part.(type) {
		case *syntax.Lit:
			return false
		case *syntax.SglQuoted:
			return p.Dollar
		case *syntax.DblQuoted:
			return p.Dollar || !isText(p.Parts)
		}
		return true
	})
}

// isQuoted reports whether a part of a word is quoted.
func isQuoted(w *syntax.Word) bool {
	return slices.ContainsFunc(w.Parts, func(part syntax.WordPart) bool {
		l, ok := part.(*syntax.Lit)
		return !ok || strings.Contains(l.Value, `\`)
	})
}
