package splice

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/diag"
)

// A yamlBody is a YAML file where each key of a mapping is on its own line. root is nil if the file
// is empty.
type yamlBody struct {
	name string
	text []byte
	tree map[string]any
	root *ast.MappingNode
}

func parseYAML(name string, text []byte) (b body, tree any, err error) {
	defer func() {
		if recover() != nil { // the library may panic
			b, tree, err = nil, nil, diag.List{{File: name, Line: 1, Column: 1, Msg: "this is not YAML", Hint: "correct the file"}}
		}
	}()
	y := &yamlBody{name: name, text: text, tree: map[string]any{}}
	if firstCharacter(text) == 0 {
		return y, nil, nil
	}
	// check the limits that the YAML library does not enforce
	if err := config.ReadDocument(name, text, "the file").Err(); err != nil {
		return nil, nil, err
	}
	unix := strings.ReplaceAll(string(text), "\r\n", "\n")
	file, err := parser.ParseBytes([]byte(unix), 0)
	if err != nil {
		return nil, nil, yamlProblem(name, err)
	}
	for _, doc := range file.Docs {
		if doc.Body != nil {
			y.root = mapping(doc.Body)
		}
	}
	if y.root == nil || y.root.IsFlowStyle {
		return nil, nil, diag.List{{File: name, Line: 1, Column: 1, Msg: "the file must be a mapping, with a key on each line", Hint: "correct the file"}}
	}
	if err := yaml.Unmarshal([]byte(unix), &y.tree); err != nil {
		return nil, nil, yamlProblem(name, err)
	}
	return y, y.tree, nil
}

func yamlProblem(name string, err error) diag.List {
	p := diag.Problem{File: name, Line: 1, Column: 1, Msg: "this is not YAML", Hint: "correct the file; petrigate does not edit a file that it cannot read"}
	var bad yaml.Error
	if errors.As(err, &bad) {
		p.Msg += ": " + bad.GetMessage()
		p.Line, p.Column = tokenPlace(bad.GetToken())
	}
	return diag.List{p}
}

func tokenPlace(tk *token.Token) (line, column int) {
	if tk == nil || tk.Position == nil {
		return 1, 1
	}
	return tk.Position.Line, tk.Position.Column
}

// mapping returns n as a mapping, or nil if n is not a mapping.
func mapping(n ast.Node) *ast.MappingNode {
	switch n := n.(type) {
	case *ast.MappingNode:
		return n
	case *ast.MappingValueNode:
		return &ast.MappingNode{Values: []*ast.MappingValueNode{n}, IsFlowStyle: n.IsFlowStyle}
	}
	return nil
}

// A yamlPlace locates a top-level key of a YAML file, and the entries of the mapping or list that
// is its value.
type yamlPlace struct {
	key      *ast.MappingValueNode // nil if the key is missing
	empty    bool                  // whether the value of the key is null, {} or []
	from, to int                   // lines of the key and its value
	starts   []yamlStart
}

// A yamlStart is the position where an entry of a mapping or list starts.
type yamlStart struct {
	name         string
	line, column int // lines are counted from 0, columns from 1
}

// find locates the mapping or list at the given place, which must be the value of a top-level key.
func (b *yamlBody) find(at Place) (p yamlPlace, err error) {
	if b.root == nil {
		return p, nil
	}
	i := slices.IndexFunc(b.root.Values, func(v *ast.MappingValueNode) bool { return v.Key.GetToken().Value == at.Path[0] })
	if i < 0 {
		return p, nil
	}
	p.key = b.root.Values[i]
	lines := lineStarts(b.text)
	line, column := tokenPlace(p.key.Key.GetToken())
	p.from, p.to = line-1, len(lines)-1
	if i+1 < len(b.root.Values) {
		next, _ := tokenPlace(b.root.Values[i+1].Key.GetToken())
		p.to = next - 1
	}
	p.to = trimmed(b.text, lines, p.from, p.to, column)
	return p, b.starts(at, &p)
}

// starts finds where each entry of the mapping or list at the given place starts, and stores these
// positions in p.
func (b *yamlBody) starts(at Place, p *yamlPlace) error {
	line, column := tokenPlace(p.key.Key.GetToken())
	inBrackets := false
	switch v := p.key.Value.(type) {
	case *ast.NullNode:
		p.empty = true
	case *ast.SequenceNode:
		if at.Named == "" {
			return wrongKind(b.name, line, column, at)
		}
		p.empty, inBrackets = len(v.Values) == 0, v.IsFlowStyle
		fields, _ := b.tree[at.Path[0]].([]any)
		for i, entry := range v.Entries {
			line, column := tokenPlace(entry.Start)
			p.starts = append(p.starts, yamlStart{nameIn(fields[i], at.Named), line - 1, column})
		}
	default:
		m := mapping(v)
		if m == nil || at.Named != "" {
			return wrongKind(b.name, line, column, at)
		}
		p.empty, inBrackets = len(m.Values) == 0, m.IsFlowStyle
		for _, entry := range m.Values {
			line, column := tokenPlace(entry.Key.GetToken())
			p.starts = append(p.starts, yamlStart{entry.Key.GetToken().Value, line - 1, column})
		}
	}
	if inBrackets && !p.empty {
		return diag.List{{File: b.name, Line: line, Column: column, Msg: fmt.Sprintf("%q is written in brackets, which petrigate does not edit", at), Hint: "write each server on separate lines"}}
	}
	return nil
}

func (b *yamlBody) entries(at Place) ([]Entry, error) {
	p, err := b.find(at)
	if err != nil {
		return nil, err
	}
	var all []Entry
	for i, s := range p.starts {
		var v any
		switch t := b.tree[at.Path[0]].(type) {
		case map[string]any:
			v = t[s.name]
		case []any:
			v = t[i]
		}
		if v, err = normalize(v); err != nil {
			return nil, diag.List{{File: b.name, Line: s.line + 1, Column: s.column, Msg: fmt.Sprintf("the value of %q cannot be read: %v", s.name, err)}}
		}
		all = append(all, Entry{s.name, v, s.line + 1, s.column})
	}
	return all, nil
}

// runs returns the ranges of lines that contain the top-level key and each entry below it.
func (b *yamlBody) runs(p yamlPlace) []run {
	if p.key == nil {
		return nil
	}
	all := []run{{name: "key", from: p.from, to: p.from + 1}}
	lines := lineStarts(b.text)
	for i, s := range p.starts {
		to := p.to
		if i+1 < len(p.starts) {
			to = p.starts[i+1].line
		}
		all = append(all, run{s.name, true, s.line, trimmed(b.text, lines, s.line, to, s.column)})
	}
	return all
}

func (b *yamlBody) replace(at Place, remove []string, add []New) ([]byte, error) {
	p, err := b.find(at)
	if err != nil {
		return nil, err
	}
	newline := newlineOf(b.text)
	all := cut(b.text, b.runs(p))
	key := slices.IndexFunc(all, func(s lineSegment) bool { return s.name == "key" && !s.entry })
	if key < 0 || p.empty {
		return b.withNewKey(at, add, all, key, newline), nil
	}
	indent := strings.Repeat(" ", p.starts[0].column-1)
	more := make([]lineSegment, len(add))
	for i, n := range add {
		more[i] = newLines(at, n, newline, indent)
		if i == 0 {
			more[i].text = append([]byte(emptyAbove(all, remove)), more[i].text...)
		}
	}
	end := last(all, lineSegment{name: p.starts[len(p.starts)-1].name, entry: true}) + 1
	next := replaced(all, remove, more, end)
	if len(add) == 0 && !slices.ContainsFunc(next, func(s lineSegment) bool { return s.entry }) {
		next[key].text = []byte(strings.TrimRight(string(next[key].text), "\r\n") + " " + emptyValue(at) + newline)
	}
	return join(next, b.text), nil
}

// emptyValue returns an empty list or mapping in YAML, depending on the type of the value at the
// given place.
func emptyValue(at Place) string {
	if at.Named != "" {
		return "[]"
	}
	return "{}"
}

// withNewKey adds the top-level key, with the new entries below it, at the end of the file, and
// returns the resulting text. If the file already contains the key with an empty value, withNewKey
// replaces it instead.
func (b *yamlBody) withNewKey(at Place, add []New, all []lineSegment, key int, newline string) []byte {
	if len(add) == 0 {
		return b.text
	}
	text := []byte(yamlKey(at.Path[0]) + ":" + newline)
	for _, n := range add {
		text = append(text, newLines(at, n, newline, "  ").text...)
	}
	if key >= 0 {
		all[key].text = text
	} else {
		all = append(all, lineSegment{text: text})
	}
	return join(all, b.text)
}

// newLines returns the lines of a new entry with the given indentation.
func newLines(at Place, n New, newline, indent string) lineSegment {
	if at.Named == "" {
		return lineSegment{n.Name, true, []byte(Object{{n.Name, n.Value}}.asYAML(newline, indent))}
	}
	text := n.Value.named(at, n.Name).asYAML(newline, indent+"  ")
	return lineSegment{n.Name, true, []byte(indent + "- " + strings.TrimPrefix(text, indent+"  "))}
}

func (b *yamlBody) restore(at Place, old body, names []string, ours string) ([]byte, error) {
	was := old.(*yamlBody)
	before, err := was.find(at)
	if err != nil {
		return nil, err
	}
	now, err := b.find(at)
	if err != nil {
		return nil, err
	}
	all, source := cut(b.text, b.runs(now)), cut(was.text, was.runs(before))
	next := restored(all, source, names, ours, anywhere)
	left := slices.ContainsFunc(next, func(s lineSegment) bool { return s.entry })
	key := slices.IndexFunc(next, func(s lineSegment) bool { return s.name == "key" && !s.entry })
	from := slices.IndexFunc(source, func(s lineSegment) bool { return s.name == "key" && !s.entry })
	switch {
	case key >= 0 && !left && from < 0: // petrigate connect created the key
		next = slices.Delete(next, key, key+1)
	case key >= 0 && !left, key >= 0 && now.empty:
		next[key].text = source[max(from, 0)].text
	case key < 0 && left: // the key has since been removed
		at := slices.IndexFunc(next, func(s lineSegment) bool { return s.entry })
		next = slices.Insert(next, at, lineSegment{text: source[max(from, 0)].text})
	}
	return join(next, b.text), nil
}
