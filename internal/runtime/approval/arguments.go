package approval

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/internal/jsonpath"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/text"
)

const (
	maxComparable = 64 << 10 // maximum size in bytes of arguments that a grant can cover
	maxPins       = 20       // maximum number of pins per grant
	maxValue      = 200      // maximum size in bytes of a pin's displayed value
)

// A Pin requires an argument to keep its value.
type Pin struct {
	Field  string // member name, or path starting with "$"; empty means all arguments
	Digest string // hash of the value's canonical form
	Value  string // beginning of the value, for display
}

// arguments holds the arguments of a call in a form that can be compared with a grant.
type arguments struct {
	doc   []byte
	shape string // hash of the paths and kinds of all members; empty if the arguments cannot be compared
}

// readArguments returns c's arguments for comparison with grants. The shape is empty if the
// arguments are too long, have masked values, or could be understood differently by different JSON
// parsers.
func readArguments(c Call) arguments {
	doc := rawjson.Omit(c.Shown(), c.Ignored)
	if c.Dropped || c.Masked > 0 || len(doc) > maxComparable || rawjson.Kind(doc) != '{' {
		return arguments{}
	}
	if _, ok := canonical(nil, doc); !ok {
		return arguments{}
	}
	members := map[string]bool{}
	addShape(members, "", doc)
	return arguments{doc, audit.HashOf(strings.Join(slices.Sorted(maps.Keys(members)), "\n"))}
}

// addShape adds to the set the paths and kinds of a JSON value and of all values inside it. The
// given path is that of the outer value. All elements of an array have the same path.
func addShape(set map[string]bool, path string, value []byte) {
	kind := rawjson.Kind(value)
	if kind == 'f' {
		kind = 't'
	}
	set[path+" "+string(kind)] = true
	switch kind {
	case '{':
		rawjson.Members(value, func(key, value []byte, _ int) bool {
			addShape(set, string(rawjson.AppendString([]byte(path+"."), string(key))), value)
			return true
		})
	case '[':
		rawjson.Elements(value, func(value []byte, _ int) bool {
			addShape(set, path+"[]", value)
			return true
		})
	}
}

// pin returns one pin per field, or a single pin for all arguments if fields is empty.
func (a arguments) pin(fields []string) ([]Pin, error) {
	if len(fields) > maxPins {
		return nil, fmt.Errorf("a grant can name at most %d arguments", maxPins)
	}
	if len(fields) == 0 {
		fields = []string{""}
	} else if slices.Contains(fields, "") {
		return nil, errors.New("an argument of the grant has no name")
	}
	var pins []Pin
	for _, field := range slices.Compact(slices.Sorted(slices.Values(fields))) {
		p, err := a.pinOne(field)
		if err != nil {
			return nil, err
		}
		pins = append(pins, p)
	}
	return pins, nil
}

func (a arguments) pinOne(field string) (Pin, error) {
	value := a.doc
	if field != "" {
		path := jsonpath.Key(field)
		if jsonpath.IsPath(field) {
			var problem *jsonpath.Error
			if path, problem = jsonpath.Parse(field); problem != nil {
				return Pin{}, fmt.Errorf("%q: %s", field, problem.Msg)
			}
		}
		var ok bool
		if value, ok = path.Single(a.doc); !ok {
			return Pin{}, fmt.Errorf("the call has no single argument %q", field)
		}
	}
	one, ok := canonical(nil, value)
	if !ok {
		return Pin{}, fmt.Errorf("parsers could read the argument %q differently", field)
	}
	return Pin{field, audit.HashOf(one), text.Excerpt(string(one), maxValue)}, nil
}

// match reports whether the pinned arguments have the values required by pins.
func (a arguments) match(pins []Pin) bool {
	return !slices.ContainsFunc(pins, func(p Pin) bool {
		now, err := a.pinOne(p.Field)
		return err != nil || now.Digest != p.Digest
	})
}

// canonical appends value to buf in canonical form: without white space, with sorted members and
// minimally escaped strings, and with numbers unchanged. It returns false if value is invalid. It
// also returns false if an object in value has two members with the same name, or if a string or a
// name contains U+FFFD, because JSON parsers could read such a value differently.
func canonical(buf, value []byte) (_ []byte, ok bool) {
	switch rawjson.Kind(value) {
	case '{':
		return canonicalObject(buf, value)
	case '[':
		buf, ok = append(buf, '['), true
		whole := rawjson.Elements(value, func(element []byte, _ int) bool {
			if buf[len(buf)-1] != '[' {
				buf = append(buf, ',')
			}
			buf, ok = canonical(buf, element)
			return ok
		})
		return append(buf, ']'), ok && whole
	case '"':
		s, ok := rawjson.String(value)
		return rawjson.AppendString(buf, s), ok && !strings.ContainsRune(s, '\ufffd') // some JSON parsers replace invalid characters with U+FFFD
	}
	return append(buf, bytes.TrimSpace(value)...), len(value) > 0
}

func canonicalObject(to, object []byte) (_ []byte, ok bool) {
	type member struct {
		name  string
		value []byte
	}
	var members []member
	ok = true
	whole := rawjson.Members(object, func(key, value []byte, _ int) bool {
		members = append(members, member{string(key), value})
		ok = !bytes.ContainsRune(key, '\ufffd')
		return ok
	})
	slices.SortFunc(members, func(a, b member) int { return cmp.Compare(a.name, b.name) })
	to = append(to, '{')
	for i, m := range members {
		if i > 0 {
			to = append(to, ',')
		}
		var good bool
		to, good = canonical(append(rawjson.AppendString(to, m.name), ':'), m.value)
		ok = ok && good && (i == 0 || members[i-1].name != m.name)
	}
	return append(to, '}'), ok && whole
}
