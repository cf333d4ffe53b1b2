package lsp

import (
	"maps"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/internal/text"
)

// Limits on the length of a hover.
const (
	maxForms    = 6
	maxMentions = 8
)

// forms returns the syntax to show for a keyword, as Markdown. If the keyword introduces a clause,
// this is the syntax and the explanation of the clause. Otherwise, it is the syntax of the
// statements that contain the keyword. If some of these statements match the line, forms leaves out
// the others.
func (s *server) forms(keyword string, m *match) string {
	var lines []string
	for _, among := range [][]*compiledForm{{m.form}, m.starts, s.grammar.forms} {
		for _, f := range among {
			if f != nil && slices.Contains(keywordsIn(f.parts), keyword) && len(lines) < maxForms {
				lines = append(lines, expandClauses(f.form.form))
			}
		}
		if len(lines) > 0 {
			break
		}
	}
	if clause := clauseOf(keyword, m); clause.form != "" {
		return "```petrigate-rules\n" + clause.form + "\n```\n" + withoutBraces(clause.explanation)
	}
	if len(lines) == 0 {
		return ""
	}
	return "```petrigate-rules\n" + strings.Join(lines, "\n") + "\n```"
}

// clauseOf returns the clause that the keyword introduces, if any. If there are several, it prefers
// a clause that occurs in the line.
func clauseOf(keyword string, m *match) form {
	for _, name := range append(slices.Clone(m.clauses), slices.Sorted(maps.Keys(clauses))...) {
		clause := clauses[name]
		for _, word := range strings.Fields(strings.NewReplacer("(", " ", "|", " ").Replace(clause.form)) {
			if word == keyword && clause.explanation != "" {
				return clause
			}
			if isOperand(word) {
				break
			}
		}
	}
	return form{}
}

// keywordsIn returns the keywords in the given parts of a statement's syntax, including those in
// optional parts and alternatives.
func keywordsIn(parts []part) []string {
	var all []string
	for _, p := range parts {
		if p.keyword != "" {
			all = append(all, p.keyword)
		}
		for _, choice := range p.choice {
			all = append(all, keywordsIn(choice)...)
		}
	}
	return all
}

// expandClauses replaces each <clause> in a form with the syntax of that clause.
func expandClauses(form string) string {
	for name, clause := range clauses {
		form = strings.ReplaceAll(form, "<"+name+">", clause.form)
	}
	return form
}

// withoutBraces returns an explanation without the braces around its operands.
func withoutBraces(says string) string { return strings.NewReplacer("{", "", "}", "").Replace(says) }

// code formats a user's text as inline code in Markdown.
func code(s string) string {
	s = text.Escape(s)
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if len(fence) > 1 {
		return fence + " " + s + " " + fence
	}
	return fence + s + fence
}
