package splice

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"unicode/utf8"

	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/list"
)

// A Document is a parsed configuration file.
type Document struct {
	name   string
	format Format
	src    []byte
	tree   any // decoded values
	body   body
}

// Bytes returns the text of the file.
func (d *Document) Bytes() []byte { return d.src }

// Tree returns the decoded values in the file, or nil if the file is empty. The caller must not
// modify them.
func (d *Document) Tree() any { return d.tree }

// Keys returns the sorted keys of the mapping at the given path, or no keys if the path does not
// lead to a mapping.
func (d *Document) Keys(path ...string) []string {
	fields, _ := value(d.tree, path).(map[string]any)
	return slices.Sorted(maps.Keys(fields))
}

// At returns the value at the given path, or nil if the path does not exist.
func (d *Document) At(path ...string) any { return value(d.tree, path) }

// Entries returns the entries of the mapping or list at the given place. If the mapping or list
// does not exist, Entries returns no entries.
func (d *Document) Entries(at Place) ([]Entry, error) { return d.body.entries(at) }

// Replace removes the named entries from the mapping or list at the given place, adds the new
// entries, and returns the resulting text of the file. The new entries are inserted where the first
// removed entry was or, if no entry is removed, at the end. If there are new entries and the
// mapping or list does not exist, it is created.
func (d *Document) Replace(at Place, remove []string, add ...New) ([]byte, error) {
	edited, err := d.body.replace(at, remove, add)
	if err != nil {
		return nil, err
	}
	touched := slices.Concat(remove, list.Map(add, func(n New) string { return n.Name }))
	return d.verified(edited, at, touched, func(next *Document) error {
		now := next.values(at)
		for _, n := range add {
			if !n.presentIn(now, at) {
				return fmt.Errorf("the entry %q would not be read back unchanged", n.Name)
			}
		}
		for _, name := range remove {
			isNew := slices.ContainsFunc(add, func(n New) bool { return n.Name == name })
			if _, there := now[name]; there && !isNew {
				return fmt.Errorf("the entry %q would stay", name)
			}
		}
		return nil
	})
}

// Restore undoes [Document.Replace] and returns the resulting text of the file. In the mapping or
// list at the given place, it removes petrigate's own entry and inserts the named entries of old,
// an earlier version of the document. The argument ours is the name of petrigate's entry.
func (d *Document) Restore(at Place, old *Document, names []string, ours string) ([]byte, error) {
	text, err := d.body.restore(at, old.body, names, ours)
	if err != nil {
		return nil, err
	}
	return d.verified(text, at, append(slices.Clone(names), ours), func(next *Document) error {
		was, now := old.values(at), next.values(at)
		for _, name := range names {
			if !reflect.DeepEqual(was[name], now[name]) {
				return fmt.Errorf("the entry %q would not be restored unchanged", name)
			}
		}
		if _, there := now[ours]; there && !slices.Contains(names, ours) {
			return fmt.Errorf("the entry %q would stay", ours)
		}
		return nil
	})
}

// verified checks the text of the file after an edit at the given place and returns it with the
// file's byte order mark, if any. It returns an error if the text is invalid, or if anything other
// than the touched entries has changed. The callback makes further checks.
func (d *Document) verified(text []byte, at Place, touched []string, more func(*Document) error) ([]byte, error) {
	if bytes.HasPrefix(d.src, []byte(byteOrderMark)) {
		text = append([]byte(byteOrderMark), text...)
	}
	next, err := Parse(d.name, text, d.format)
	if err != nil {
		return nil, refused(d.name, fmt.Errorf("the result is not valid: %w", err))
	}
	if !reflect.DeepEqual(without(d.tree, at, touched), without(next.tree, at, touched)) {
		return nil, refused(d.name, errors.New("other values in the file would change"))
	}
	if err := more(next); err != nil {
		return nil, refused(d.name, err)
	}
	return text, nil
}

// without returns a copy of tree after removing the named entries from the mapping or list at the
// given place. It also removes mappings that become empty.
func without(tree any, at Place, names []string) any {
	if len(at.Path) == 0 {
		return remaining(tree, at.Named, names)
	}
	fields, ok := tree.(map[string]any)
	if !ok {
		return tree
	}
	rest, key := maps.Clone(fields), at.Path[0]
	if rest[key] = without(fields[key], Place{at.Path[1:], at.Named}, names); rest[key] == nil {
		delete(rest, key)
	}
	if len(rest) == 0 {
		return nil
	}
	return rest
}

// remaining returns a copy of tree, a mapping or list, without the named entries. It returns nil if
// the copy would be empty.
func remaining(tree any, named string, names []string) any {
	switch t := tree.(type) {
	case map[string]any:
		rest := maps.Clone(t)
		maps.DeleteFunc(rest, func(key string, _ any) bool { return slices.Contains(names, key) })
		if len(rest) > 0 {
			return rest
		}
		return nil
	case []any:
		rest := slices.DeleteFunc(slices.Clone(t), func(v any) bool { return slices.Contains(names, nameIn(v, named)) })
		if len(rest) > 0 {
			return rest
		}
		return nil
	}
	return tree
}

// values returns the values of all entries in the mapping or list at the given place, keyed by
// name.
func (d *Document) values(at Place) map[string]any {
	all := map[string]any{}
	entries, _ := d.body.entries(at) // entries is empty after an error, for example if the place contains a string
	for _, e := range entries {
		all[e.Name] = e.Value
	}
	return all
}

// Has reports whether the mapping or list at the given place contains the entry n with exactly the
// same value.
func (d *Document) Has(at Place, n New) bool {
	return n.presentIn(d.values(at), at)
}

// Parse parses a file. Any error is a [diag.List] whose problems have the given file name.
func Parse(name string, src []byte, f Format) (*Document, error) {
	d := &Document{name: name, format: f, src: src}
	if len(src) > maxSize {
		return nil, diag.List{{File: name, Msg: "the file is too large"}}
	}
	text := bytes.TrimPrefix(src, []byte(byteOrderMark))
	if i := invalid(text); i >= 0 {
		return nil, problemAt(name, text, i, "the file is not UTF-8 here", "save it as UTF-8")
	}
	if at := tooDeep(text); f != YAML && at >= 0 { // tooDeep understands only JSON; in TOML, it may count brackets in strings and comments
		return nil, problemAt(name, text, at, fmt.Sprintf("values are nested more than %d levels deep", maxDepth), "")
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

// invalid returns the offset of the first byte that is not valid UTF-8, or -1.
func invalid(text []byte) int {
	for i, r := range string(text) {
		if r == utf8.RuneError && !bytes.HasPrefix(text[i:], []byte("\ufffd")) {
			return i
		}
	}
	return -1
}
