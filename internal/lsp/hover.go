package lsp

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/rules"
)

// hover explains the word at a position. For the first word of a statement, it explains the
// statement. For another keyword, it shows the forms that contain the keyword. For a name, it lists
// the statements that mention the name.
func (s *server) hover(d *document, p Position) any {
	c := d.cursor(p)
	at := c.word()
	if at < 0 {
		return nil
	}
	w, m := c.words[at], s.grammar.match(c.words)
	role := m.role(at, s.grammar)
	var value string
	switch {
	case at == 0, at == 1 && c.words[0].isKeyword("shadow"):
		value = join(meaning(c.line, m), s.forms(w.text, m))
	case role.keyword != "":
		value = join(s.forms(w.text, m), meaning(c.line, m))
	case role.operand != "" && operands[role.operand].names():
		value = join(s.about(d, nameIn(w, role)), meaning(c.line, m))
	default:
		value = meaning(c.line, m)
	}
	if value == "" {
		return nil
	}
	return hover{markup{"markdown", value}, d.span(c.begin+w.from, c.begin+w.to)}
}

// role returns the part of the statement that the word with the given index belongs to. If the line
// matches no form, any word that is a keyword in some form counts as a keyword.
func (m *match) role(at int, g *grammar) part {
	if m.form != nil && !m.words[at].isKeyword("or") && !m.words[at].isKeyword("as") {
		return m.roles[at]
	}
	if _, found := slices.BinarySearch(g.keywords, m.words[at].text); found {
		return part{keyword: m.words[at].text}
	}
	if at == 1 && (m.words[0].isKeyword("map") || m.words[0].isKeyword("example")) {
		return part{operand: "T"}
	}
	return part{operand: "A"}
}

// names reports whether operands with this syntax contain names of tools, labels or actions.
func (c class) names() bool {
	return slices.Contains([]class{callNames, callName, either, label, tool, target}, c)
}

// nameIn returns the name of the tool, label or action in a word. If the word is a target (a tool,
// a dot and a field), nameIn returns the name of the tool.
func nameIn(w word, role part) string {
	if operands[role.operand] != target {
		return w.name()
	}
	if strings.HasPrefix(w.text, `"`) {
		if end := stringEnd(w.text, 0); end > 0 {
			return word{kind: quoted, text: w.text[:end]}.name()
		}
	}
	tool, _, _ := strings.Cut(w.text, ".")
	return tool
}

func join(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "\n\n---\n\n")
}

// meaning returns an explanation of a statement and the list of nets it compiles to.
func meaning(line string, m *match) string {
	says := m.sentence(code)
	if says == "" {
		return ""
	}
	result, err := policy.Build(policy.Source{Rules: []config.RuleText{{Text: line}}}) // compile only this line
	if err != nil {
		return says
	}
	for _, n := range result.Nets {
		states := "more states than were counted"
		if n.States != nil {
			states = text.Count(*n.States, "state")
		}
		says += fmt.Sprintf("\n\nNet %s, %s.", code(n.Name), states)
	}
	return says
}

// about returns a Markdown list of the statements that mention a name.
func (s *server) about(d *document, name string) string {
	var lines []string
	for _, w := range s.rulesOf(d) {
		for _, st := range w.file.Statements {
			if mentions(st, name) {
				at := st.Position()
				lines = append(lines, fmt.Sprintf("- %s (%s:%d)", code(st.String()), filepath.Base(at.File), at.Line))
			}
		}
	}
	value := "**" + code(name) + "**"
	if t := list.Find(s.toolNames(d), func(t toolName) bool { return t.name == name }); t != nil {
		value += ", " + t.is
	}
	if rest := len(lines) - maxMentions; rest > 0 {
		lines = append(lines[:maxMentions], fmt.Sprintf("- and %s more", text.Count(rest, "statement")))
	}
	return value + "\n\n" + strings.Join(lines, "\n")
}

// mentions reports whether a statement mentions the given name or a pattern that matches it.
func mentions(s rules.Statement, name string) bool {
	f := rules.File{Statements: []rules.Statement{s}}
	if slices.ContainsFunc(slices.Concat(f.Names(), f.Tools()), func(n rules.Name) bool { return n.Matches(name) }) {
		return true
	}
	if e, ok := s.(*rules.Example); ok && (e.As.Text == name || slices.ContainsFunc(e.Tools, func(n rules.Name) bool { return n.Text == name })) {
		return true
	}
	return slices.Contains(f.Labels(), name)
}
