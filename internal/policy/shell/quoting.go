package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// hereEnd looks for a here document that bash ends at another line than the
// parser: unless the delimiter is quoted, bash joins lines at a backslash first.
func (r *reader) hereEnd(rd *syntax.Redirect) {
	if !isPlainDelimiter(rd.Word) {
		r.unsure("a here document whose end is not known")
	}
	if isQuoted(rd.Word) {
		return
	}
	from, to := rd.Hdoc.Pos().Offset(), rd.Hdoc.End().Offset()
	if from > to || to > uint(len(r.source)) {
		r.unsure("a here document whose end is not known")
		return
	}
	for strings.HasSuffix(r.source[:from], "\\\n") {
		from -= 2 // the parser has joined these already
	}
	body, delimiter := r.source[from:to], rd.Word.Lit()
	if !strings.Contains(body, "\\\n") {
		return
	}
	if end := strings.LastIndexByte(body, '\n'); strings.TrimLeft(body[end+1:], "\t") == delimiter {
		body = body[:end]
	}
	if strings.HasSuffix(body, "\\") {
		r.unsure("a here document whose end is not known") // the delimiter is joined to it
	}
	if endsEarly(body, delimiter) {
		r.unsure("a here document whose end is not known")
	}
}

// endsEarly reports whether a line of the body is the delimiter once lines are
// joined at their backslashes. Of a joined line only as much is kept as matters.
func endsEarly(body, delimiter string) bool {
	joined := ""
	for line := range strings.SplitSeq(body, "\n") {
		line = strings.TrimLeft(line, "\t")
		part := strings.TrimRight(line, "\\")
		joined += part[:min(len(part), max(0, len(delimiter)+1-len(joined)))]
		if part != line {
			continue
		}
		if joined == delimiter {
			return true
		}
		joined = ""
	}
	return false
}

// isPlainDelimiter reports whether a delimiter is text and quotes alone. An
// expansion in it is none, and shells differ over quotes behind a dollar sign.
func isPlainDelimiter(w *syntax.Word) bool {
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
		case *syntax.SglQuoted:
			if p.Dollar {
				return false
			}
		case *syntax.DblQuoted:
			if p.Dollar {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// quotedExpansion reads what stands in ${...} within double quotes, where bash
// takes single quotes for characters and expands what is between them, though
// the parser takes them for quotes. It looks at what is within it as well, so
// that it is for the outermost one alone.
func (r *reader) quotedExpansion(p *syntax.ParamExp) {
	if r.expanding {
		return
	}
	syntax.Walk(p, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst:
			return false // quotes are quotes again
		case *syntax.SglQuoted:
			if strings.ContainsAny(n.Value, "$`\"{}\\") {
				r.unsure("single quotes within double ones")
			}
		case *syntax.DblQuoted: // of "$"(rm x) only the quotes are lost
			for _, part := range n.Parts {
				if l, ok := part.(*syntax.Lit); ok && strings.ContainsAny(l.Value, "$`<>") {
					r.unsure("double quotes within double ones")
				}
			}
			if n.Dollar {
				r.unsure("double quotes within double ones")
			}
		}
		return true
	})
}

// within reads a word in ${...}. bash runs a process substitution there, which
// the parser takes for text.
func (r *reader) within(w *syntax.Word) arg {
	if w == nil {
		return arg{}
	}
	for _, part := range w.Parts {
		l, ok := part.(*syntax.Lit)
		if ok && strings.ContainsAny(l.Value, "<>") && strings.Contains(l.Value, "(") {
			r.unsure("a process substitution that is not read")
		}
	}
	return r.word(w)
}
