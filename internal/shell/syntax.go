package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// isText reports whether a word consists only of literal text and quotes. Quotes after a dollar
// sign do not count, because shells disagree about them.
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

// isQuoted reports whether any part of the word w is quoted.
func isQuoted(w *syntax.Word) bool {
	return slices.ContainsFunc(w.Parts, func(part syntax.WordPart) bool {
		l, ok := part.(*syntax.Lit)
		return !ok || strings.Contains(l.Value, `\`)
	})
}

// isPlain reports whether the expansion p is $x, ${x} or ${x[...]}.
func isPlain(p *syntax.ParamExp) bool { return p.Slice == nil && isSlice(p) }

// isSlice reports whether the expansion p is $x, ${x}, ${x[...]} or ${x:...}.
func isSlice(p *syntax.ParamExp) bool {
	return p.Param != nil && !p.Excl && !p.Length && !p.Width && p.Repl == nil && p.Exp == nil &&
		p.Names == 0 && p.NestedParam == nil && p.Flags == nil && !p.IsSet && len(p.Modifiers) == 0
}

// onlyExpansion returns the expansion in the word w if w contains nothing else, and nil otherwise.
// quoted reports whether the expansion is in double quotes.
func onlyExpansion(w *syntax.Word) (p *syntax.ParamExp, quoted bool) {
	if len(w.Parts) != 1 {
		return nil, false
	}
	part := w.Parts[0]
	if q, ok := part.(*syntax.DblQuoted); ok {
		if len(q.Parts) != 1 || q.Dollar {
			return nil, false
		}
		part, quoted = q.Parts[0], true
	}
	p, _ = part.(*syntax.ParamExp)
	return p, quoted
}

// isGiven reports whether the word w consists only of function arguments: "$@", "${@:2}", "$*" or
// $1.
func isGiven(w *syntax.Word) bool {
	p, _ := onlyExpansion(w)
	if p == nil || !isSlice(p) || p.Index != nil {
		return false
	}
	name := p.Param.Value
	return name == "@" || p.Slice == nil && (name == "*" || len(name) == 1 && "1" <= name && name <= "9")
}

// lit returns the text of the operand x if x is a single literal word, and "" otherwise.
func lit(x syntax.ArithmExpr) string {
	if w, ok := x.(*syntax.Word); ok {
		return w.Lit()
	}
	return ""
}

// plainText returns the text of the word w if w contains no expansions and no special characters.
func plainText(w *syntax.Word) (text string, ok bool) {
	if len(w.Parts) != 1 {
		return "", false
	}
	switch p := w.Parts[0].(type) {
	case *syntax.SglQuoted:
		text, ok = p.Value, !p.Dollar
	case *syntax.DblQuoted:
		if len(p.Parts) == 0 {
			return "", true
		}
		if l, is := p.Parts[0].(*syntax.Lit); is && len(p.Parts) == 1 {
			text, ok = l.Value, !p.Dollar
		}
	case *syntax.Lit:
		text, ok = p.Value, true
	}
	return text, ok && strings.Trim(text, plainLetters+" ") == ""
}

// isList reports whether the expansion p yields a list, such as the arguments in $@ or the elements
// of an array.
func isList(p *syntax.ParamExp) bool {
	return p.Param != nil && (p.Param.Value == "@" || p.Param.Value == "*") || lit(p.Index) == "@" || lit(p.Index) == "*" || p.Names != 0
}

// isZsh reports whether the given parts of a word begin with one of the zsh expansions $=x, $~x and
// $^x. The parser returns the dollar sign and the rest as separate parts.
func isZsh(parts []syntax.WordPart) bool {
	dollar, ok := parts[0].(*syntax.Lit)
	if !ok || dollar.Value != "$" || len(parts) == 1 {
		return false
	}
	next, ok := parts[1].(*syntax.Lit)
	return ok && len(next.Value) > 1 && strings.IndexByte("=~^", next.Value[0]) >= 0 && (next.Value[1] == '{' || isName(next.Value[1:2]))
}

// isSimple reports whether s, a command in a pipeline, is a simple command without redirections.
func isSimple(s *syntax.Stmt) bool {
	_, ok := s.Cmd.(*syntax.CallExpr)
	return ok && !s.Negated && len(s.Redirs) == 0
}

func isPipe(b *syntax.BinaryCmd) bool { return b.Op == syntax.Pipe || b.Op == syntax.PipeAll }

// setsInput reports whether any of the redirections sets the standard input of a command.
func setsInput(list []*syntax.Redirect) bool {
	return slices.ContainsFunc(list, func(rd *syntax.Redirect) bool {
		reads := givesText(rd) || rd.Op == syntax.RdrIn || rd.Op == syntax.DplIn || rd.Op == syntax.RdrInOut
		return reads && (rd.Word == nil || rd.Word.Lit() != "/dev/null")
	})
}

// givesText reports whether the redirection rd feeds text from the script to a command's standard
// input.
func givesText(rd *syntax.Redirect) bool {
	return rd.Op == syntax.Hdoc || rd.Op == syntax.DashHdoc || rd.Op == syntax.WordHdoc
}

// nameOf returns the name of the variable assigned by a, or "" if the name is not literal.
func nameOf(a *syntax.Assign) string {
	switch {
	case a.Name != nil:
		return a.Name.Value
	case a.Value != nil && a.Value.Lit() != "":
		return a.Value.Lit() // the word is an option of declare
	}
	return ""
}

// mayFail reports whether the redirection rd may fail because it opens a file. If it fails, the
// shell does not run the command.
func mayFail(rd *syntax.Redirect) bool {
	return rd.Word != nil && rd.Hdoc == nil && rd.Op != syntax.WordHdoc && rd.Op != syntax.DplIn && rd.Op != syntax.DplOut && rd.Word.Lit() != "/dev/null"
}
