package lsp

import (
	"slices"
	"strings"
)

// A grammar holds all statement forms, parsed for matching against lines.
type grammar struct {
	forms    []*compiledForm
	keywords []string // all keywords in the table, sorted
}

// A compiledForm is a form split into its parts.
type compiledForm struct {
	form
	parts []part
}

// A part is a keyword, an operand, or a choice between sequences of parts.
type part struct {
	keyword string
	operand string
	choice  [][]part // alternative sequences of parts; one may be empty
	clause  string   // name of the clause, if the part is a clause
}

func newGrammar() *grammar {
	g := &grammar{}
	for _, f := range forms {
		g.forms = append(g.forms, &compiledForm{f, g.parse(f.form)})
	}
	g.keywords = append(g.keywords, "or")
	slices.Sort(g.keywords)
	g.keywords = slices.Compact(g.keywords)
	return g
}

// parse parses a form or clause written in form notation.
func (g *grammar) parse(notation string) []part {
	signs := strings.Fields(strings.NewReplacer("[", " [ ", "]", " ] ", "(", " ( ", ")", " ) ", "|", " | ").Replace(notation))
	return g.alternatives(&signs)[0]
}

// alternatives parses sequences of parts that are separated by "|". It stops at the end of the
// notation or after a closing bracket.
func (g *grammar) alternatives(signs *[]string) [][]part {
	all := [][]part{nil}
	for len(*signs) > 0 {
		sign := (*signs)[0]
		*signs = (*signs)[1:]
		last := &all[len(all)-1]
		switch {
		case sign == "]" || sign == ")":
			return all
		case sign == "|":
			all = append(all, nil)
		case sign == "[":
			*last = append(*last, part{choice: append(g.alternatives(signs), nil)})
		case sign == "(":
			*last = append(*last, part{choice: g.alternatives(signs)})
		case sign[0] == '<':
			name := strings.Trim(sign, "<>")
			*last = append(*last, part{clause: name, choice: [][]part{g.parse(clauses[name].form)}})
		case isOperand(sign):
			*last = append(*last, part{operand: sign})
		default:
			*last, g.keywords = append(*last, part{keyword: sign}), append(g.keywords, sign)
		}
	}
	return all
}

func isOperand(sign string) bool { return sign[0] >= 'A' && sign[0] <= 'Z' }

// A match is the result of matching a line against all forms.
type match struct {
	words []word

	form     *compiledForm     // form that matches the whole line, or nil
	operands map[string]string // text in the line for each operand and clause of the form, keyed by name
	clauses  []string          // names of the clauses in the line
	roles    []part            // part of the form that each word matches
	next     []part            // keywords and operands that can come next
	starts   []*compiledForm   // forms that match the line, or could match if more words were added
}

// match matches the words of a line against all forms.
func (g *grammar) match(line []word) *match {
	m := &match{words: line, operands: map[string]string{}, roles: make([]part, len(line))}
	for _, f := range g.forms {
		known, reached := len(m.next), false
		m.matchParts(f.parts, 0, func(at int) bool { // return false to make matchParts try all alternatives and collect all completions in m.next
			reached = reached || at == len(line)
			return false
		})
		if expected := m.next; m.form == nil && reached {
			m.matchParts(f.parts, 0, func(at int) bool { return at == len(line) })
			m.form, m.next = f, expected
		}
		if reached || len(m.next) > known {
			m.starts = append(m.starts, f)
		}
	}
	return m
}

// matchParts matches parts against the words of the line, beginning with the word at index start.
// For each possible match, it calls the callback with the index of the next word, until the
// callback returns true. matchParts reports whether the callback returned true. If the line ends
// before the parts do, matchParts adds the first missing part to m.next.
func (m *match) matchParts(parts []part, start int, then func(start int) bool) bool {
	if len(parts) == 0 {
		return then(start)
	}
	p, rest := parts[0], func(start int) bool { return m.matchParts(parts[1:], start, then) }
	switch {
	case p.choice != nil:
		return m.oneOf(p, start, rest)
	case start == len(m.words):
		m.next = append(m.next, p)
		return false
	case p.keyword != "":
		return m.words[start].isKeyword(p.keyword) && m.assign(p, start, start+1, rest)
	}
	return m.operand(p, start, rest)
}

// oneOf is like matchParts, but matches a choice between alternatives. If the choice is a clause, a
// match also records the clause's name and operand in m.
func (m *match) oneOf(p part, start int, rest func(int) bool) bool {
	for _, parts := range p.choice {
		fits := m.matchParts(parts, start, func(end int) bool {
			if !rest(end) {
				return false
			}
			if p.clause != "" {
				m.clauses = append(m.clauses, p.clause)
				m.operands[p.clause] = m.textOf(start+1, end) // the word at start is the clause's keyword
			}
			return true
		})
		if fits {
			return true
		}
	}
	return false
}

// assign matches the words in [start, end) with a part. It then calls the callback to match the
// rest of the line and returns the callback's result. If the result is true, assign records the
// match in m.
func (m *match) assign(p part, start, end int, rest func(int) bool) bool {
	if !rest(end) {
		return false
	}
	if p.operand != "" {
		m.operands[p.operand] = m.textOf(start, end)
	}
	for i := start; i < end; i++ {
		m.roles[i] = p
	}
	return true
}

// textOf returns the text of the words in [start, end).
func (m *match) textOf(start, end int) string {
	var b strings.Builder
	for i := start; i < end; i++ {
		if i > start && m.words[i].kind != comma {
			b.WriteByte(' ')
		}
		b.WriteString(m.words[i].text)
	}
	return b.String()
}

// operand is like matchParts, but matches a single operand.
func (m *match) operand(p part, start int, rest func(int) bool) bool {
	w := m.words[start]
	if w.kind == bare && slices.Contains(reservedNames, w.text) {
		return false
	}
	one := func(ok bool) bool { return ok && m.assign(p, start, start+1, rest) }
	c := operands[p.operand]
	if l, ok := lists[c]; ok {
		return m.list(p, l, start, rest)
	}
	switch c {
	case count:
		return one(w.kind == bare && strings.Trim(w.text, "0123456789") == "")
	case target:
		return m.target(p, start, rest)
	case quotedText:
		return one(w.kind == quoted)
	case object:
		return one(w.kind == braces)
	case pattern:
		return one(w.kind == bare || w.kind == regex)
	case command:
		end := start + 1
		for end < len(m.words) && !m.words[end].isKeyword("as") {
			end++
		}
		if end == len(m.words) {
			m.next = append(m.next, part{keyword: "as"})
			return false
		}
		return m.assign(p, start, end, rest)
	}
	return one(w.kind == bare || w.kind == quoted)
}

// target matches tools separated by commas, the last of them followed by a dot and a field.
func (m *match) target(p part, start int, rest func(int) bool) bool {
	last := start
	for last+1 < len(m.words) && m.words[last+1].kind == comma {
		last += 2
	}
	if last >= len(m.words) {
		m.next = append(m.next, p)
		return false
	}
	return m.words[last].kind == bare && strings.Contains(m.words[last].text, ".") && m.assign(p, start, last+1, rest)
}

// A listSyntax is the syntax of an operand with several words.
type listSyntax struct {
	separators []string
	offered    string // separator to offer as a completion after the last word, if any
	least      int    // minimum number of words; 0 means 1
	names      bool   // whether all words must be names
}

var lists = map[class]listSyntax{
	callNames: {separators: []string{","}, names: true},
	tool:      {separators: []string{","}, names: true},
	places:    {separators: []string{","}, names: true},
	either:    {separators: []string{"or"}, offered: "or", least: 2},
	key:       {separators: []string{",", "as"}, offered: "as"},
}

// list is like matchParts, but matches an operand that consists of words and separators.
func (m *match) list(p part, l listSyntax, start int, rest func(int) bool) bool {
	for end := start; ; end += 2 {
		switch last := end+1 == len(m.words); {
		case end == len(m.words):
			m.next = append(m.next, p)
			return false
		case l.names && m.words[end].kind != bare && m.words[end].kind != quoted:
			return false
		case last && l.offered != "":
			m.next = append(m.next, part{keyword: l.offered})
		case !last && slices.Contains(l.separators, m.words[end+1].text):
			continue
		}
		return end+2 >= start+2*l.least && m.assign(p, start, end+1, rest)
	}
}

// sentence returns the explanation of the statement in the line, or "" if the line is not a
// complete statement. The callback formats each operand that the explanation quotes from the line.
func (m *match) sentence(quote func(string) string) string {
	if m.form == nil {
		return ""
	}
	fill := func(says string) string {
		for name, text := range m.operands {
			says = strings.ReplaceAll(says, "{"+name+"}", quote(text))
		}
		return says
	}
	all := []string{fill(m.form.explanation)}
	for _, name := range m.clauses {
		if says := clauses[name].explanation; says != "" {
			all = append(all, fill(says))
		}
	}
	return strings.Join(all, " ")
}
