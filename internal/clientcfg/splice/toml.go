package splice

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/petrigate/petrigate/internal/diag"
)

// A tomlBody is a TOML file with the line numbers of all tables and keys.
type tomlBody struct {
	name  string
	text  []byte
	tree  map[string]any
	parts []tomlPart
}

// A tomlPart is a part of a TOML file: either a table header, or a key with its value.
type tomlPart struct {
	table    bool
	path     []string // keys on the path from the root
	from, to int      // line numbers of the part's start and end
	column   int
}

func parseTOML(name string, text []byte) (body, any, error) {
	b := &tomlBody{name: name, text: text, tree: map[string]any{}}
	if err := toml.Unmarshal(text, &b.tree); err != nil {
		p := diag.Problem{File: name, Line: 1, Column: 1, Msg: "this is not TOML: " + strings.TrimPrefix(err.Error(), "toml: "), Hint: "correct the file; petrigate does not edit a file that it cannot read"}
		var bad *toml.DecodeError
		if errors.As(err, &bad) {
			p.Line, p.Column = bad.Position()
		}
		return nil, nil, diag.List{p}
	}
	if err := b.read(); err != nil {
		return nil, nil, diag.List{{File: name, Line: 1, Column: 1, Msg: fmt.Sprintf("this is not TOML: %v", err)}}
	}
	return b, b.tree, nil
}

// read finds the lines of all table headers and keys.
func (b *tomlBody) read() error {
	starts := lineStarts(b.text)
	p := &unstable.Parser{KeepComments: true}
	p.Reset(b.text)
	var table []string
	var ends []int // indexes of lines that begin with an expression or a comment; each part of the file ends before the next of these lines
	for p.NextExpression() {
		e := p.Expression()
		offset, path := begin(p, e)
		line, column := position(b.text, offset)
		ownLine := strings.TrimLeft(string(b.text[starts[line-1]:offset]), " \t[") == ""
		if ownLine {
			ends = append(ends, line-1)
		}
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			table = path
			b.parts = append(b.parts, tomlPart{table: true, path: path, from: line - 1, column: column})
		case unstable.KeyValue:
			b.parts = append(b.parts, tomlPart{path: slices.Concat(table, path), from: line - 1, column: column})
		}
	}
	if err := p.Error(); err != nil {
		return err
	}
	for i := range b.parts {
		to := len(starts) - 1
		if at := slices.IndexFunc(ends, func(line int) bool { return line > b.parts[i].from }); at >= 0 {
			to = ends[at]
		}
		b.parts[i].to = trimmed(b.text, starts, b.parts[i].from, to, math.MaxInt)
	}
	return nil
}

// begin returns the offset where the expression e begins, and the dotted key of e, split into its
// parts.
func begin(p *unstable.Parser, e *unstable.Node) (offset int, path []string) {
	if e.Kind == unstable.Comment {
		return int(p.Range(e.Data).Offset), nil
	}
	offset = -1
	for it := e.Key(); it.Next(); {
		n := it.Node()
		if offset < 0 {
			offset = int(n.Raw.Offset)
		}
		path = append(path, string(n.Data))
	}
	return max(offset, 0), path
}

// below returns the rest of a path after the given prefix. ok is false if the path does not begin
// with the prefix, or if nothing is left.
func below(path, of []string) (rest []string, ok bool) {
	if len(path) <= len(of) || !slices.Equal(path[:len(of)], of) {
		return nil, false
	}
	return path[len(of):], true
}

// runs returns the ranges of lines that become segments of the file. A range contains either lines
// of one entry of the mapping at the given place, or lines outside the mapping.
func (b *tomlBody) runs(at Place) (all []run) {
	for _, part := range b.parts {
		next := run{name: "[" + strings.Join(part.path, "\x00"), from: part.from, to: part.to}
		rest, isEntry := below(part.path, at.Path)
		if isEntry {
			next.name, next.entry = rest[0], true
		}
		n := len(all) - 1
		switch {
		case n >= 0 && isEntry && all[n].entry && all[n].name == next.name,
			n >= 0 && !isEntry && !part.table && !all[n].entry:
			all[n].to = part.to
		default:
			all = append(all, next)
		}
	}
	return all
}

func (b *tomlBody) entries(at Place) ([]Entry, error) {
	found := value(b.tree, at.Path)
	if found == nil {
		return nil, nil
	}
	fields, ok := found.(map[string]any)
	part := b.inline(at)
	if ok && part != nil {
		return nil, diag.List{{File: b.name, Line: part.from + 1, Column: part.column, Msg: fmt.Sprintf("%q is written in braces, which petrigate does not edit", at), Hint: fmt.Sprintf("write a table for each server: [%s.NAME]", at)}}
	}
	if !ok {
		if part == nil {
			part = &b.parts[max(0, slices.IndexFunc(b.parts, func(p tomlPart) bool { return slices.Equal(p.path, at.Path) }))]
		}
		return nil, wrongKind(b.name, part.from+1, part.column, at)
	}
	var all []Entry
	seen := map[string]bool{}
	for _, part := range b.parts {
		rest, ok := below(part.path, at.Path)
		if !ok || seen[rest[0]] {
			continue
		}
		seen[rest[0]] = true
		value, err := normalize(fields[rest[0]])
		if err != nil {
			return nil, diag.List{{File: b.name, Line: part.from + 1, Column: part.column, Msg: fmt.Sprintf("the value of %q cannot be read: %v", rest[0], err)}}
		}
		all = append(all, Entry{rest[0], value, part.from + 1, part.column})
	}
	return all, nil
}

// inline returns the part whose inline value, such as {...}, contains the mapping at the given
// place. It returns nil if no inline value contains it.
func (b *tomlBody) inline(at Place) *tomlPart {
	for i, part := range b.parts {
		if !part.table && len(part.path) <= len(at.Path) && slices.Equal(part.path, at.Path[:len(part.path)]) {
			return &b.parts[i]
		}
	}
	return nil
}

// normalize converts a value to the types that the JSON decoder uses.
func normalize(v any) (any, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return decodeJSON(text)
}

func (b *tomlBody) replace(at Place, remove []string, add []New) ([]byte, error) {
	if _, err := b.entries(at); err != nil {
		return nil, err
	}
	newline := newlineOf(b.text)
	all := cut(b.text, b.runs(at))
	front, end := emptyAbove(all, remove), len(all)
	if !slices.ContainsFunc(all, func(s lineSegment) bool { return s.entry && slices.Contains(remove, s.name) }) && len(b.text) > 0 {
		front = newline
	}
	var more []lineSegment
	for _, n := range add {
		text := n.Value.asTOML(slices.Concat(at.Path, []string{n.Name}), newline)
		more = append(more, lineSegment{n.Name, true, []byte(front + text)})
		front = newline
	}
	next := replaced(all, remove, more, end)
	if b.captures(next, more) {
		next = append(replaced(all, remove, nil, end), more...)
	}
	return join(next, b.text), nil
}

// captures reports whether keys of another table follow the new segments. A TOML parser would
// assign these keys to the last new table.
func (b *tomlBody) captures(all, more []lineSegment) bool {
	if len(more) == 0 {
		return false
	}
	at := last(all, more[len(more)-1])
	for _, s := range all[at+1:] {
		if first := firstCharacter(s.text); first != 0 {
			return first != '['
		}
	}
	return false
}

// isTable reports whether a segment begins with a table header and can therefore be moved. A
// segment that begins with a key belongs to the table above it.
func isTable(text []byte) bool { return firstCharacter(text) == '[' }

func (b *tomlBody) restore(at Place, old body, names []string, ours string) ([]byte, error) {
	was := old.(*tomlBody)
	next := restored(cut(b.text, b.runs(at)), cut(was.text, was.runs(at)), names, ours, isTable)
	return join(next, b.text), nil
}
