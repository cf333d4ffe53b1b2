package lsp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/petrigate/petrigate/rules"
)

// maxItems is the maximum number of completions in a list. The editor asks again as the user
// continues typing.
const maxItems = 300

// completion offers the keywords and names that can appear at a position in a document.
func (s *server) completion(d *document, p Position) any {
	c := d.cursor(p)
	before, end := words(c.line[:c.at])
	list := completionList{Items: []completionItem{}}
	if end < c.at && c.line[end] == '#' || len(before) > maxWords {
		return list // the cursor is in a comment
	}
	begun := word{from: c.at, to: c.at}
	if n := len(before); n > 0 && before[n-1].to == c.at && before[n-1].kind != comma {
		begun, before = before[n-1], before[:n-1]
	}
	m := s.grammar.match(before)
	o := offer{server: s, document: d, match: m, edit: d.span(c.begin+begun.from, c.begin+c.at), begun: begun.text, seen: map[string]bool{}}
	type kind struct {
		keyword string
		class   class
	}
	offered := map[kind]bool{}
	for _, next := range m.next {
		k := kind{next.keyword, operands[next.operand]}
		switch {
		case offered[k]:
		case next.keyword != "":
			o.keyword(next.keyword)
		default:
			o.operand(k.class)
		}
		offered[k] = true
	}
	list.Items = o.items
	if list.IsIncomplete = len(o.items) > maxItems; list.IsIncomplete {
		list.Items = o.items[:maxItems]
	}
	return list
}

// An offer collects the items of a completion list.
type offer struct {
	*server
	*document
	match *match
	edit  Range
	begun string // text of the word at the cursor, up to the cursor
	items []completionItem
	seen  map[string]bool
}

// add adds an item to the list if its label contains the typed text and differs from the labels
// already in the list.
func (o *offer) add(order int, item completionItem) {
	typed := strings.ToLower(strings.Trim(o.begun, `"`))
	if o.seen[item.Label] || !strings.Contains(strings.ToLower(item.Label), typed) {
		return
	}
	o.seen[item.Label] = true
	item.TextEdit.NewText = cmp.Or(item.TextEdit.NewText, item.Label)
	item.TextEdit.Range = o.edit
	item.Sort = fmt.Sprintf("%d%04d", order, len(o.items))
	o.items = append(o.items, item)
}

// keyword offers a keyword. At the beginning of a line, it also offers a snippet for each kind of
// statement that begins with the keyword, if the editor supports snippets.
func (o *offer) keyword(word string) {
	doc := o.forms(word, o.match)
	o.add(1, completionItem{Label: word, Kind: kindKeyword, Doc: &markup{"markdown", doc}})
	if !o.snippets || len(o.match.words) > 0 {
		return
	}
	for _, f := range o.grammar.forms {
		label, snippet := formTemplate(f.parts)
		if strings.HasPrefix(label, word+" ") {
			o.add(3, completionItem{Label: label, Kind: kindSnippet, Format: 2, Detail: withoutBraces(f.explanation), TextEdit: textEdit{NewText: snippet}})
		}
	}
}

// formTemplate returns the label and the snippet of a completion for a kind of statement. Both omit
// optional parts, and both replace a choice with the first word of its first alternative.
func formTemplate(parts []part) (label, snippet string) {
	stop := 0
	var labels, snippets []string
	for _, p := range parts {
		for p.choice != nil { // use the first alternative, or none if the choice is optional
			last := p.choice[len(p.choice)-1]
			if len(last) == 0 || len(p.choice[0]) == 0 {
				break
			}
			p = p.choice[0][0]
		}
		switch {
		case p.keyword != "":
			labels, snippets = append(labels, p.keyword), append(snippets, p.keyword)
		case p.operand != "":
			stop++
			labels, snippets = append(labels, p.operand), append(snippets, fmt.Sprintf("${%d:%s}", stop, p.operand))
		}
	}
	return strings.Join(labels, " "), strings.Join(snippets, " ")
}

// operand offers completions for an operand with the given syntax.
func (o *offer) operand(c class) {
	switch c {
	case callNames, callName, either, label:
		o.names(true)
	case tool:
		o.names(false)
	case target:
		o.targets()
	case count:
		for _, n := range []string{"1", "3", "5", "10"} {
			o.add(4, completionItem{Label: n, Kind: kindConstant})
		}
	case key, field:
		o.fields()
	case net:
		o.nets()
	}
}

// quoteName returns a name as written in rules, quoted if necessary.
func (o *offer) quoteName(name string) string {
	if name != "" && !strings.ContainsAny(name, " \t\"#,") && utf8.ValidString(name) && !strings.HasPrefix(o.begun, `"`) {
		return name
	}
	text, _ := json.Marshal(name)
	return string(text)
}

// name offers a name, quoted if necessary.
func (o *offer) name(name string, kind int, detail string) {
	o.add(2, completionItem{Label: name, Kind: kind, Detail: detail, TextEdit: textEdit{NewText: o.quoteName(name)}})
}

// names offers the names in the policy's rules, followed by the names of tools. If labels is true,
// the names that map statements define are included.
func (o *offer) names(labels bool) {
	for _, w := range o.rulesOf(o.document) {
		if labels {
			for _, label := range w.file.Labels() {
				o.name(label, kindConstant, "a name that a map defines")
			}
		}
		for _, n := range slices.Concat(w.file.Names(), w.file.Tools()) {
			if !n.Glob() {
				o.name(n.Text, kindFunction, "in the rules")
			}
		}
	}
	for _, t := range o.toolNames(o.document) {
		o.name(t.name, kindFunction, t.is)
	}
}

// targets offers tools or, after a dot, the arguments of the tool before the dot.
func (o *offer) targets() {
	tool, _, dotted := strings.Cut(o.begun, ".")
	if !dotted {
		o.names(false)
		return
	}
	for _, t := range o.toolNames(o.document) {
		for _, field := range t.fields {
			if t.name == tool {
				o.add(2, completionItem{Label: tool + "." + field, Kind: kindField, Detail: "an argument of " + tool})
			}
		}
	}
	for _, m := range mapsIn(o.rulesOf(o.document)) {
		if m.Field != "" && slices.ContainsFunc(m.Tools, func(n rules.Name) bool { return n.Text == tool }) {
			o.add(2, completionItem{Label: tool + "." + m.Field, Kind: kindField, Detail: "in the rules"})
		}
	}
}

// fields offers the arguments of the tools named in the line, and then the names of arguments that
// map statements use.
func (o *offer) fields() {
	for _, t := range o.toolNames(o.document) {
		for _, field := range t.fields {
			if slices.ContainsFunc(o.match.words, func(w word) bool { return w.name() == t.name }) {
				o.add(2, completionItem{Label: field, Kind: kindField, Detail: "an argument of " + t.name})
			}
		}
	}
	for _, m := range mapsIn(o.rulesOf(o.document)) {
		if m.Field != "" {
			o.add(2, completionItem{Label: m.Field, Kind: kindField, Detail: "in the rules"})
		}
	}
}

// nets offers the policy's hand-written nets.
func (o *offer) nets() {
	p := o.project(o.path)
	if p == nil {
		return
	}
	for _, n := range p.source.Nets {
		o.name(n.Name, kindConstant, "a net")
	}
}
