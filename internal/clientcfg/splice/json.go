package splice

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/list"
)

// A jsonBody is a parsed JSON file, including its comments and white space. root is nil if the file
// is empty.
type jsonBody struct {
	name string
	text []byte
	root *hujson.Value
}

// errorPosition extracts the line, the column and the rest of the message from an error of the
// hujson library.
var errorPosition = regexp.MustCompile(`^hujson: line (\d+), column (\d+): (.*)$`)

func parseJSON(name string, text []byte) (body, any, error) {
	b := &jsonBody{name: name, text: text}
	if len(bytes.TrimSpace(text)) == 0 {
		return b, nil, nil
	}
	root, err := hujson.Parse(bytes.Clone(text))
	if err != nil {
		p := diag.Problem{File: name, Line: 1, Column: 1, Msg: "this is not JSON: " + strings.TrimPrefix(err.Error(), "hujson: "), Hint: "correct the file; petrigate does not edit a file that it cannot read"}
		if m := errorPosition.FindStringSubmatch(err.Error()); m != nil {
			p.Line, _ = strconv.Atoi(m[1])
			p.Column, _ = strconv.Atoi(m[2])
			p.Msg = "this is not JSON: " + m[3]
		}
		return nil, nil, diag.List{p}
	}
	b.root = &root
	if err := b.noDuplicates(&root); err != nil {
		return nil, nil, err
	}
	tree, err := decode(root)
	if err != nil {
		return nil, nil, diag.List{{File: name, Line: 1, Column: 1, Msg: fmt.Sprintf("this is not JSON: %v", err)}}
	}
	if _, ok := tree.(map[string]any); !ok {
		return nil, nil, problemAt(name, text, root.StartOffset, "the file must be a JSON object, in braces", "correct the file")
	}
	return b, tree, nil
}

// tooDeep returns the offset of the first bracket whose nesting depth exceeds the limit, or -1.
func tooDeep(text []byte) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			for i++; i < len(text) && text[i] != '"' && text[i] != '\n'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '/':
			i += comment(text[i:])
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		if depth > maxDepth {
			return i
		}
	}
	return -1
}

// comment returns the offset of the last byte of the comment at the start of text, or 0 if text
// does not start with a comment.
func comment(text []byte) int {
	end, skip := "", 0
	switch {
	case bytes.HasPrefix(text, []byte("//")):
		end = "\n"
	case bytes.HasPrefix(text, []byte("/*")):
		end, skip = "*/", 1
	default:
		return 0
	}
	if at := bytes.Index(text[2:], []byte(end)); at >= 0 {
		return at + 2 + skip
	}
	return len(text) - 1
}

// decode decodes a value, ignoring comments.
func decode(v hujson.Value) (any, error) {
	v = v.Clone()
	v.Standardize()
	return decodeJSON(v.Pack())
}

// decodeJSON decodes plain JSON, with numbers as [json.Number].
func decodeJSON(text []byte) (tree any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	err = d.Decode(&tree)
	return tree, err
}

// noDuplicates returns an error if any object contains the same key twice.
func (b *jsonBody) noDuplicates(root *hujson.Value) error {
	for v := range root.All() {
		object, ok := v.Value.(*hujson.Object)
		if !ok {
			continue
		}
		seen := map[string]int{}
		for i := range object.Members {
			key := &object.Members[i].Name
			name := keyOf(*key)
			if first, twice := seen[name]; twice {
				line, _ := position(b.text, first)
				return problemAt(b.name, b.text, key.StartOffset, fmt.Sprintf("duplicate key %q", name), fmt.Sprintf("the first is on line %d; remove one of them", line))
			}
			seen[name] = key.StartOffset
		}
	}
	return nil
}

func keyOf(v hujson.Value) string {
	literal, _ := v.Value.(hujson.Literal)
	var name string
	_ = json.Unmarshal(literal, &name) // cannot fail: the literal has been parsed before
	return name
}

// find returns the object at the given path. If the object does not exist, find returns the deepest
// existing object on the path and the rest of the path.
func (b *jsonBody) find(root *hujson.Value, path []string) (object *hujson.Object, missing []string, err error) {
	value := root
	for i := 0; ; i++ {
		object, ok := value.Value.(*hujson.Object)
		if !ok {
			return nil, nil, b.wrong(value, path[:i])
		}
		if i == len(path) {
			return object, nil, nil
		}
		if value = member(object, path[i]); value == nil {
			return object, path[i:], nil
		}
	}
}

func (b *jsonBody) wrong(v *hujson.Value, path []string) error {
	line, column := position(b.text, v.StartOffset)
	return wrongKind(b.name, line, column, Place{Path: path})
}

func member(object *hujson.Object, key string) *hujson.Value {
	for i := range object.Members {
		if keyOf(object.Members[i].Name) == key {
			return &object.Members[i].Value
		}
	}
	return nil
}

func (b *jsonBody) entries(at Place) ([]Entry, error) {
	if b.root == nil {
		return nil, nil
	}
	object, missing, err := b.find(b.root, at.Path)
	if err != nil || len(missing) > 0 {
		return nil, err
	}
	var all []Entry
	for _, m := range object.Members {
		value, err := decode(m.Value)
		if err != nil {
			return nil, err
		}
		line, column := position(b.text, m.Name.StartOffset)
		all = append(all, Entry{keyOf(m.Name), value, line, column})
	}
	return all, nil
}

// A jsonMember is a member of an object, with the white space and comments before it and the
// comment after it on the same line.
type jsonMember struct {
	hujson.ObjectMember
	behind hujson.Extra
}

type jsonSegment = segment[jsonMember]

// segments cuts an object into its members. A comment on the same line as the opening brace belongs
// to no member. segments returns it separately, as head.
func segments(object *hujson.Object) (head hujson.Extra, all []jsonSegment) {
	all = make([]jsonSegment, len(object.Members))
	behind := &head
	for i, m := range object.Members {
		*behind, m.Name.BeforeExtra = tail(m.Name.BeforeExtra)
		all[i] = jsonSegment{keyOf(m.Name), true, jsonMember{ObjectMember: m}}
		behind = &all[i].text.behind
	}
	*behind, object.AfterExtra = tail(object.AfterExtra)
	return head, all
}

// tail splits the white space and comments after a value, a comma or an opening brace at the first
// line break. The first result contains the comments on the same line. It is nil if that line
// contains no comments, if the last comment continues on the next line, or if no line break
// follows.
func tail(extra hujson.Extra) (comment, rest hujson.Extra) {
	end := bytes.IndexByte(extra, '\n')
	if end < 0 {
		return nil, extra
	}
	comment = bytes.TrimSuffix(extra[:end], []byte("\r"))
	if !bytes.Contains(comment, []byte("/")) || !slices.Concat(comment, hujson.Extra("\n")).IsValid() {
		return nil, extra
	}
	return comment, extra[len(comment):]
}

// setMembers replaces the members of an object, adding a trailing comma if the object had one
// before.
func (b *jsonBody) setMembers(object *hujson.Object, head hujson.Extra, members []jsonSegment) {
	trailing := false
	if n := len(object.Members); n > 0 {
		trailing = object.Members[n-1].Value.AfterExtra != nil
	}
	object.Members = nil
	behind := head
	for i, s := range members {
		m := s.text.ObjectMember
		m.Name.BeforeExtra = b.joinExtra(behind, m.Name.BeforeExtra)
		behind = s.text.behind
		switch extra := m.Value.AfterExtra; {
		case i < len(members)-1:
		case trailing && extra == nil:
			m.Value.AfterExtra = hujson.Extra{}
		case !trailing && extra != nil:
			m.Value.AfterExtra = nil
			behind = slices.Concat(extra, behind)
		}
		object.Members = append(object.Members, m)
	}
	object.AfterExtra = b.joinExtra(behind, object.AfterExtra)
}

// joinExtra returns a comment followed by extra, which is white space and comments. It inserts a
// line break between them if necessary.
func (b *jsonBody) joinExtra(comment, extra hujson.Extra) hujson.Extra {
	if bytes.Contains(comment, []byte("//")) && !bytes.HasPrefix(bytes.TrimLeft(extra, " \t\r"), []byte("\n")) {
		extra = slices.Concat(hujson.Extra(newlineOf(b.text)), extra)
	}
	return slices.Concat(comment, extra)
}

// change applies a function to the members of an object and stores the result in the object.
func (b *jsonBody) change(object *hujson.Object, to func([]jsonSegment) []jsonSegment) {
	head, all := segments(object)
	b.setMembers(object, head, to(all))
}

// drop removes the named member of an object.
func (b *jsonBody) drop(object *hujson.Object, name string) {
	b.change(object, func(all []jsonSegment) []jsonSegment { return replaced(all, []string{name}, nil, 0) })
}

// clone returns a deep copy of the syntax tree.
func (b *jsonBody) clone() hujson.Value {
	root, err := hujson.Parse(bytes.Clone(b.text))
	if err != nil {
		panic(err) // cannot happen: the text has been parsed before
	}
	return root
}

func (b *jsonBody) replace(at Place, remove []string, add []New) ([]byte, error) {
	return b.replaceMembers(at.Path, remove, list.Map(add, func(n New) Member { return Member{n.Name, n.Value} }))
}

// replaceMembers removes the named members of the object at the given path and adds new ones, as
// specified by [body.replace].
func (b *jsonBody) replaceMembers(path, remove []string, add Object) ([]byte, error) {
	s := b.style()
	if b.root == nil {
		return []byte(nested(path, add).asJSON(s, "") + s.newline), nil
	}
	root := b.clone()
	object, missing, err := b.find(&root, path)
	if err != nil {
		return nil, err
	}
	if len(missing) > 0 {
		if len(add) == 0 {
			return root.Pack(), nil
		}
		add = nested(missing, add)
	}
	depth := len(path) - len(missing) + 1
	more := list.Map(add, func(m Member) jsonSegment { return newMember(object, m, s, depth) })
	if len(object.Members) == 0 && len(more) > 0 && !s.compact {
		object.AfterExtra = append(object.AfterExtra, s.newline+strings.Repeat(s.unit, depth-1)...)
	}
	b.change(object, func(all []jsonSegment) []jsonSegment { return replaced(all, remove, more, len(all)) })
	return root.Pack(), nil
}

// nested returns an object that contains the members at the given path. It creates one object for
// each key of the path.
func nested(path []string, members Object) Object {
	for _, key := range slices.Backward(path) {
		members = Object{{key, members}}
	}
	return members
}

// newMember returns a new member of an object, formatted like the existing members.
func newMember(object *hujson.Object, m Member, s style, depth int) jsonSegment {
	front := s.newline + strings.Repeat(s.unit, depth)
	if len(object.Members) > 0 {
		front = spaces(object.Members[len(object.Members)-1].Name.BeforeExtra)
		s.compact = s.compact || !strings.Contains(front, "\n")
	} else if s.compact {
		front = ""
	}
	indent := front[strings.LastIndexByte(front, '\n')+1:]
	value := hujson.Value{BeforeExtra: hujson.Extra(" "), Value: hujson.Literal(jsonValue(m.Value, s, indent))}
	name := hujson.Value{BeforeExtra: hujson.Extra(front), Value: hujson.Literal(quote(m.Key))}
	return jsonSegment{m.Key, true, jsonMember{ObjectMember: hujson.ObjectMember{Name: name, Value: value}}}
}

// spaces returns the line break and the indentation in front of a value. If the value does not
// start a line, spaces returns the white space in front of it.
func spaces(extra hujson.Extra) string {
	text := string(extra)
	at := strings.LastIndexByte(text, '\n')
	if at < 0 {
		return text[len(strings.TrimRight(text, " \t")):]
	}
	line := text[at+1:]
	indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	if strings.HasSuffix(text[:at], "\r") {
		return "\r\n" + indent
	}
	return "\n" + indent
}

// style infers the formatting of the file from its first member.
func (b *jsonBody) style() style {
	s := style{newline: newlineOf(b.text), unit: "  "}
	if b.root == nil {
		return s
	}
	object, _ := b.root.Value.(*hujson.Object)
	if len(object.Members) == 0 {
		return s
	}
	front := spaces(object.Members[0].Name.BeforeExtra)
	s.compact = !strings.Contains(front, "\n")
	if indent := strings.TrimLeft(front, "\r\n"); indent != "" {
		s.unit = indent
	}
	return s
}

func (b *jsonBody) restore(at Place, old body, names []string, ours string) ([]byte, error) {
	was := old.(*jsonBody)
	if b.root == nil || was.root == nil {
		return b.replace(at, []string{ours}, nil)
	}
	before := was.clone()
	source, gone, err := was.find(&before, at.Path)
	if err != nil {
		return nil, err
	}
	root := b.clone()
	object, missing, err := b.find(&root, at.Path)
	if err != nil {
		return nil, err
	}
	if len(gone) > 0 { // petrigate connect created the mapping, which did not exist in the old file
		b.drop(object, ours)
		depth := len(at.Path) - len(gone)
		b.prune(&root, at.Path, depth)
		if left, _, err := b.find(&root, at.Path[:depth]); err == nil && len(left.Members) == 0 {
			left.AfterExtra = source.AfterExtra
		}
		return root.Pack(), nil
	}
	if len(missing) > 0 { // the mapping has since been removed, so restore it from the old file
		return b.restorePlace(&root, was, at, missing, names)
	}
	_, theirs := segments(source)
	empty := len(object.Members) == 0
	b.change(object, func(all []jsonSegment) []jsonSegment {
		next := restored(all, theirs, names, ours, anywhere)
		if empty || len(next) == 0 {
			object.AfterExtra = source.AfterExtra
		}
		return next
	})
	return root.Pack(), nil
}

// restorePlace restores a mapping that has been removed from the file. It copies the outermost
// missing object on the path from the old file. Of the entries of the mapping, it copies only those
// with the given names.
func (b *jsonBody) restorePlace(root *hujson.Value, was *jsonBody, at Place, missing, names []string) ([]byte, error) {
	if len(names) == 0 {
		return root.Pack(), nil
	}
	source := was.clone()
	entries, _, err := was.find(&source, at.Path)
	if err != nil {
		return nil, err
	}
	was.change(entries, func(all []jsonSegment) []jsonSegment {
		return slices.DeleteFunc(all, func(s jsonSegment) bool { return !slices.Contains(names, s.name) })
	})
	depth := len(at.Path) - len(missing)
	from, _, err := was.find(&source, at.Path[:depth])
	if err != nil {
		return nil, err
	}
	to, _, err := b.find(root, at.Path[:depth])
	if err != nil {
		return nil, err
	}
	_, theirs := segments(from)
	b.change(to, func(all []jsonSegment) []jsonSegment { return restored(all, theirs, missing[:1], "", anywhere) })
	return root.Pack(), nil
}

// prune removes empty objects along a path, from its end up to the given depth.
func (b *jsonBody) prune(root *hujson.Value, path []string, depth int) {
	for i := len(path) - 1; i >= depth; i-- {
		object, missing, err := b.find(root, path[:i])
		if err != nil || len(missing) > 0 {
			return
		}
		value := member(object, path[i])
		if value == nil {
			continue
		}
		if inner, ok := value.Value.(*hujson.Object); !ok || len(inner.Members) > 0 {
			return
		}
		b.drop(object, path[i])
	}
}
