package splice

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/petrigate/petrigate/internal/diag"
)

// A Format is the syntax of a file.
type Format string

// The formats. JSON may have comments and trailing commas.
const (
	JSON Format = "JSON"
	TOML Format = "TOML"
	YAML Format = "YAML"
)

// A Place says where in a file the entries are.
type Place struct {
	Path []string // the keys that lead to a mapping
	// Named is the key that names an entry where the entries are a list; "": they are the
	// members of a mapping.
	Named string
}

// String returns the path with dots.
func (p Place) String() string { return strings.Join(p.Path, ".") }

// An Entry is one entry at a place.
type Entry struct {
	Name         string
	Value        any // decoded, as encoding/json does with UseNumber
	Line, Column int
}

// A New is an entry that is to be added.
type New struct {
	Name  string
	Value Object
}

// An Object is a mapping with an order. Its values are texts, numbers, booleans, lists of
// texts, and Objects.
type Object []Member

// A Member is one key of an Object with its value.
type Member struct {
	Key   string
	Value any
}

// A Document is a parsed file.
type Document struct {
	name string
	src  []byte
	tree any // decoded
	body body
}

// A body is the text of a file in a form that can be edited. Its edits do not change the
// body itself.
type body interface {
	// entries lists what is at a place, in the order of the file.
	entries(at Place) ([]Entry, error)
	// replace removes entries, and puts new ones where the first of them was, or at the end.
	replace(at Place, remove []string, add []New) ([]byte, error)
	// restore removes the entry that is called ours, and puts entries of old back.
	restore(at Place, old body, names []string, ours string) ([]byte, error)
}

// The limits keep a hostile file from exhausting the memory or the stack.
const (
	maxSize  = 64 << 20
	maxDepth = 1000
)

const byteOrderMark = "\ufeff"

// Parse reads a file. The name is that of its problems, which are a [diag.List].
func Parse(name string, src []byte, f Format) (*Document, error) {
	d := &Document{name: name, src: src}
	if len(src) > maxSize {
		return nil, diag.List{{File: name, Msg: "the file is too large"}}
	}
	text := bytes.TrimPrefix(src, []byte(byteOrderMark))
	if i := invalid(text); i >= 0 {
		return nil, problemAt(name, text, i, "the file is not UTF-8 here", "save it as UTF-8")
	}
	var err error
	switch f {
	case JSON:
		d.body, d.tree, err = parseJSON(name, text)
	case TOML:
		d.body, d.tree, err = parseTOML(name, text)
	default:
		d.body, d.tree, err = parseYAML(name, text)
	}
	if err != nil {
		return nil, err
	}
	return d, nil
}

// invalid returns the offset of the first byte that is not UTF-8, or -1.
func invalid(text []byte) int {
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

// problemAt is a problem at an offset of a text.
func problemAt(name string, text []byte, offset int, msg, hint string) diag.List {
	line, column := position(text, offset)
	return diag.List{{File: name, Line: line, Column: column, Msg: msg, Hint: hint}}
}

// position returns the line and the column of an offset, both from 1.
func position(text []byte, offset int) (line, column int) {
	before := text[:min(max(offset, 0), len(text))]
	start := bytes.LastIndexByte(before, '\n') + 1
	return bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(before[start:]) + 1
}

// Bytes returns the text of the file.
func (d *Document) Bytes() []byte { return d.src }

// Tree returns the values of the file, as they are decoded; nil: it is empty. The caller must not change it.
func (d *Document) Tree() any { return d.tree }

// Keys returns the keys of a mapping, sorted; none where there is no mapping.
func (d *Document) Keys(path ...string) []string {
	fields, _ := value(d.tree, path).(map[string]any)
	keys := make([]string, 0, len(fields))
	for key := range fields {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// At returns what is at the end of a path of keys; nil: nothing.
func (d *Document) At(path ...string) any { return value(d.tree, path) }

// value returns what is at the end of a path, or nil.
func value(tree any, path []string) any {
	for _, key := range path {
		fields, _ := tree.(map[string]any)
		tree = fields[key]
	}
	return tree
}

// Entries lists the entries at a place; none where the place does not exist.
func (d *Document) Entries(at Place) ([]Entry, error) { return d.body.entries(at) }

// Replace returns the file without the entries that remove names, and with new ones where the first
// of them was, or at the end. A place that does not exist is made.
func (d *Document) Replace(at Place, remove []string, add ...New) ([]byte, error) {
	text, err := d.body.replace(at, remove, add)
	if err != nil {
		return nil, err
	}
	gone := slices.Clone(remove)
	for _, n := range add {
		gone = append(gone, n.Name)
	}
	return d.verified(text, at, gone, func(next *Document) error {
		now := next.values(at)
		for _, n := range add {
			if !n.in(now, at) {
				return fmt.Errorf("the entry %q would not be read back as it was written", n.Name)
			}
		}
		return next.lacks(at, remove, add)
	})
}

// Restore returns the file without the entry that is called ours, and with entries that old has at
// the same place, as they are written there.
func (d *Document) Restore(at Place, old *Document, names []string, ours string) ([]byte, error) {
	text, err := d.body.restore(at, old.body, names, ours)
	if err != nil {
		return nil, err
	}
	return d.verified(text, at, append(slices.Clone(names), ours), func(next *Document) error {
		was, now := old.values(at), next.values(at)
		for _, name := range names {
			if !reflect.DeepEqual(was[name], now[name]) {
				return fmt.Errorf("the entry %q would not come back as it was", name)
			}
		}
		if _, there := now[ours]; there && !slices.Contains(names, ours) {
			return fmt.Errorf("the entry %q would stay", ours)
		}
		return nil
	})
}

// verified parses an edited text and compares everything that must not have changed.
func (d *Document) verified(text []byte, at Place, touched []string, more func(*Document) error) ([]byte, error) {
	if bytes.HasPrefix(d.src, []byte(byteOrderMark)) {
		text = append([]byte(byteOrderMark), text...)
	}
	next, err := Parse(d.name, text, d.body.(interface{ format() Format }).format())
	if err != nil {
		return nil, refused(d.name, fmt.Errorf("the result is not valid: %w", err))
	}
	if !reflect.DeepEqual(without(d.tree, at, touched), without(next.tree, at, touched)) {
		return nil, refused(d.name, errors.New("other values of the file would change"))
	}
	if err := more(next); err != nil {
		return nil, refused(d.name, err)
	}
	return text, nil
}

func refused(name string, err error) error {
	return diag.List{{File: name, Msg: fmt.Sprintf("the file is written in a way that petrigate cannot edit: %v", err), Hint: "edit it by hand; nothing was written"}}
}

// without copies a tree and leaves out some entries at a place, and mappings that are
// empty then.
func without(tree any, at Place, names []string) any {
	if len(at.Path) == 0 {
		return remaining(tree, at.Named, names)
	}
	fields, ok := tree.(map[string]any)
	if !ok {
		return tree
	}
	rest := make(map[string]any, len(fields))
	for key, v := range fields {
		if key == at.Path[0] {
			v = without(v, Place{at.Path[1:], at.Named}, names)
		}
		if v != nil || key != at.Path[0] {
			rest[key] = v
		}
	}
	if len(rest) == 0 {
		return nil
	}
	return rest
}

// remaining copies a mapping or a list without some entries; nil: nothing is left.
func remaining(tree any, named string, names []string) any {
	switch t := tree.(type) {
	case map[string]any:
		rest := map[string]any{}
		for key, v := range t {
			if !slices.Contains(names, key) {
				rest[key] = v
			}
		}
		if len(rest) > 0 {
			return rest
		}
		return nil
	case []any:
		var rest []any
		for _, v := range t {
			if !slices.Contains(names, nameIn(v, named)) {
				rest = append(rest, v)
			}
		}
		if len(rest) > 0 {
			return rest
		}
		return nil
	}
	return tree
}

// nameIn is the name of an entry of a list; "": it has none.
func nameIn(v any, named string) string {
	fields, _ := v.(map[string]any)
	name, _ := fields[named].(string)
	return name
}

// values are the entries at a place by their names.
func (d *Document) values(at Place) map[string]any {
	all := map[string]any{}
	entries, _ := d.body.entries(at) // a place that is wrong has none
	for _, e := range entries {
		all[e.Name] = e.Value
	}
	return all
}

// Has reports whether a new entry is there as it was meant.
func (d *Document) Has(at Place, n New) bool {
	return n.in(d.values(at), at)
}

// in reports whether the entry is among those at a place as it was meant.
func (n New) in(now map[string]any, at Place) bool {
	got, ok := now[n.Name]
	return ok && reflect.DeepEqual(got, Plain(n.Value.named(at, n.Name)))
}

// lacks is an error where an entry that had to go is still there.
func (d *Document) lacks(at Place, remove []string, add []New) error {
	now := d.values(at)
	for _, name := range remove {
		_, there := now[name]
		if there && !slices.ContainsFunc(add, func(n New) bool { return n.Name == name }) {
			return fmt.Errorf("the entry %q would stay", name)
		}
	}
	return nil
}

// wrongKind is the problem of a place that is not a mapping, or not a list.
func wrongKind(name string, line, column int, at Place) diag.List {
	want := "a mapping"
	if at.Named != "" {
		want = "a list"
	}
	return diag.List{{File: name, Line: line, Column: column, Msg: fmt.Sprintf("%s must be %s of servers", strconv.Quote(at.String()), want), Hint: "correct it, or remove the key"}}
}
