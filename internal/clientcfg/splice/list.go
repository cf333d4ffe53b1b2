package splice

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// An Item is a new element for a list.
type Item struct {
	List  string // key of the list to append to
	Value Object
}

// List returns the elements of the list at the given path, if any.
func (d *Document) List(path ...string) []any {
	all, _ := value(d.tree, path).([]any)
	return all
}

// Append returns the text of the file after appending items to lists in the mapping at the given
// path. The file must be JSON. Append creates mappings and lists as needed.
func (d *Document) Append(path []string, items []Item) ([]byte, error) {
	now := d
	for _, it := range items {
		b, ok := now.body.(*jsonBody)
		if !ok {
			return nil, errors.New("petrigate edits lists in JSON only")
		}
		text, err := b.appendTo(path, it)
		if err != nil {
			return nil, err
		}
		want := append(slices.Clone(now.List(append(slices.Clone(path), it.List)...)), Plain(it.Value))
		if now, err = now.edited(text, path, map[string][]any{it.List: want}); err != nil {
			return nil, err
		}
	}
	return now.src, nil
}

// Drop removes petrigate's items from all lists in the mapping at the given path, and returns the
// resulting text of the file. The callback reports whether an item is petrigate's. An item that
// contains a list under the key inner is a group. From a group, Drop removes only petrigate's
// elements of that list.
//
// Drop also removes groups, lists and mappings that become empty. It keeps a list or mapping that
// exists in old, an earlier version of the file, which may be nil. Drop changes only JSON files.
func (d *Document) Drop(path []string, inner string, old *Document, ours func(any) bool) ([]byte, error) {
	b, ok := d.body.(*jsonBody)
	if !ok || b.root == nil {
		return d.src, nil
	}
	want := map[string][]any{}
	for _, key := range d.Keys(path...) {
		if list := d.List(append(slices.Clone(path), key)...); len(list) > 0 {
			if left := withoutOurs(list, inner, ours); !reflect.DeepEqual(left, list) {
				want[key] = left
			}
		}
	}
	if len(want) == 0 {
		return d.src, nil
	}
	text, err := b.dropFrom(path, inner, old, want, ours)
	if err != nil {
		return nil, err
	}
	next, err := d.edited(text, path, want)
	if err != nil {
		return nil, err
	}
	return next.src, nil
}

// withoutOurs returns a list without petrigate's items. See [Document.Drop] for the parameters.
func withoutOurs(list []any, inner string, ours func(any) bool) []any {
	var left []any
	for _, v := range list {
		fields, _ := v.(map[string]any)
		group, ok := fields[inner].([]any)
		if !ok {
			if !ours(v) {
				left = append(left, v)
			}
			continue
		}
		rest := slices.DeleteFunc(slices.Clone(group), ours)
		if len(rest) == 0 && len(group) > 0 {
			continue
		}
		changed := maps.Clone(fields)
		changed[inner] = rest
		left = append(left, changed)
	}
	return left
}

// edited parses the text of a file after lists in the mapping at the given path have been edited. It
// returns an error unless each edited list has the wanted elements and the rest of the file is
// unchanged.
func (d *Document) edited(text []byte, path []string, want map[string][]any) (*Document, error) {
	touched := slices.Collect(maps.Keys(want))
	text, err := d.verified(text, Place{Path: path}, touched, func(next *Document) error {
		for key, list := range want {
			if got := next.List(append(slices.Clone(path), key)...); len(got)+len(list) > 0 && !reflect.DeepEqual(got, list) {
				return fmt.Errorf("the list %q would not be read back unchanged", key)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return Parse(d.name, text, JSON)
}

// appendTo appends an item to its list in the mapping at the given path. It creates the list and
// the mapping if they do not exist.
func (b *jsonBody) appendTo(path []string, it Item) ([]byte, error) {
	if b.root != nil {
		root := b.clone()
		object, missing, err := b.find(&root, path)
		if err != nil {
			return nil, err
		}
		if list := member(object, it.List); list != nil && len(missing) == 0 {
			err := b.appendItem(list, it.Value, b.style(), len(path)+1)
			return root.Pack(), err
		}
	}
	return b.replaceMembers(path, nil, Object{{it.List, []Object{it.Value}}})
}

// appendItem appends an element to a list, formatted like the existing elements.
func (b *jsonBody) appendItem(list *hujson.Value, o Object, s style, depth int) error {
	array, ok := list.Value.(*hujson.Array)
	if !ok {
		return problemAt(b.name, b.text, list.StartOffset, "this must be a list", "correct it, or remove the key")
	}
	front := s.newline + strings.Repeat(s.unit, depth)
	n := len(array.Elements)
	item := hujson.Value{}
	switch {
	case n > 0:
		last := &array.Elements[n-1]
		front = spaces(last.BeforeExtra)
		s.compact = s.compact || !strings.Contains(front, "\n")
		if s.compact && front == "" {
			front = " "
		}
		if last.AfterExtra != nil {
			item.AfterExtra = hujson.Extra{} // add a trailing comma
		}
	case s.compact:
		front = ""
	default:
		array.AfterExtra = append(array.AfterExtra, s.newline+strings.Repeat(s.unit, depth-1)...)
	}
	item.BeforeExtra = hujson.Extra(front)
	item.Value = hujson.Literal(o.asJSON(s, front[strings.LastIndexByte(front, '\n')+1:]))
	array.Elements = append(array.Elements, item)
	return nil
}

// dropFrom implements [Document.Drop] for the lists whose keys are in the map want.
func (b *jsonBody) dropFrom(path []string, inner string, old *Document, want map[string][]any, ours func(any) bool) ([]byte, error) {
	root := b.clone()
	object, _, err := b.find(&root, path)
	if err != nil {
		return nil, err
	}
	for key := range want {
		array, ok := member(object, key).Value.(*hujson.Array)
		if !ok {
			continue
		}
		b.filter(array, inner, ours)
		if len(array.Elements) > 0 {
			continue
		}
		array.AfterExtra = nil
		if old == nil || !slices.Contains(old.Keys(path...), key) {
			b.drop(object, key)
		}
	}
	if len(object.Members) == 0 && (old == nil || value(old.tree, path) == nil) {
		b.prune(&root, path, 0)
		if top, ok := root.Value.(*hujson.Object); ok && len(top.Members) == 0 {
			top.AfterExtra = nil
		}
	} else if len(object.Members) == 0 {
		object.AfterExtra = nil
	}
	return root.Pack(), nil
}

// filter removes petrigate's items from a list; see [Document.Drop] for the parameters. It keeps a
// trailing comma if the list had one before.
func (b *jsonBody) filter(array *hujson.Array, inner string, ours func(any) bool) {
	n := len(array.Elements)
	trailing := n > 0 && array.Elements[n-1].AfterExtra != nil
	array.Elements = slices.DeleteFunc(array.Elements, func(v hujson.Value) bool {
		if object, ok := v.Value.(*hujson.Object); ok {
			if list := member(object, inner); list != nil {
				group, ok := list.Value.(*hujson.Array)
				if !ok || len(group.Elements) == 0 {
					return false
				}
				b.filter(group, inner, ours)
				return len(group.Elements) == 0
			}
		}
		plain, err := decode(v)
		return err == nil && ours(plain)
	})
	if n = len(array.Elements); n == 0 {
		return
	}
	last := &array.Elements[n-1]
	switch {
	case trailing && last.AfterExtra == nil:
		last.AfterExtra = hujson.Extra{}
	case !trailing && last.AfterExtra != nil:
		array.AfterExtra = slices.Concat(last.AfterExtra, array.AfterExtra)
		last.AfterExtra = nil
	}
}
