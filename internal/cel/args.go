package cel

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/petrigate/petrigate/internal/rawjson"
)

// Limits on the arguments of a call that an expression reads.
const (
	maxArgs   = 1 << 20 // maximum size in bytes of an argument or, if an expression reads args as a whole, of all arguments
	maxValues = 20_000  // maximum number of JSON values in an argument or, if an expression reads args as a whole, in all arguments
)

// A document is a JSON object that expressions read. Each member is converted when it is first
// used, so a large member costs nothing unless an expression reads it. A document is not safe for
// concurrent use.
type document struct {
	doc   []byte
	parts map[string]piece // members looked up so far
	keys  keys             // keys of the object itself, but not of nested objects
	whole piece
}

// A piece is the result of converting a JSON object or one of its members: a Go value or an error.
type piece struct {
	value any
	ok    bool // whether the object has the member
	keys  keys // keys of all objects in value, at any depth
	err   error
}

// check returns the error from converting the value, if any. It also returns an error if the value
// contains a key that differs from one of the given keys only in letter case.
func (p *piece) check(wanted []string) error {
	for _, key := range wanted {
		if err := p.keys.checkSpelling(key); err != nil {
			return cmp.Or(p.err, err)
		}
	}
	return p.err
}

// get returns the members of the object that an expression reads.
func (d *document) get(want lookup) (map[string]any, error) {
	if want.members == nil {
		return d.everything(want.keys)
	}
	if err := d.load(want.members); err != nil {
		return nil, err
	}
	m := make(map[string]any, len(want.members))
	for _, key := range want.members {
		p := d.parts[key]
		if err := cmp.Or(d.keys.checkSpelling(key), p.check(want.keys)); err != nil {
			return nil, err
		}
		if p.ok {
			m[key] = p.value
		}
	}
	return m, nil
}

// everything returns the whole object, converting it on the first call.
func (d *document) everything(wanted []string) (map[string]any, error) {
	if !d.whole.ok {
		d.whole = convert(d.doc)
	}
	m, _ := d.whole.value.(map[string]any)
	return m, d.whole.check(wanted)
}

// load converts the given members of the object, unless they have already been looked up.
func (d *document) load(members []string) error {
	if d.parts == nil {
		d.parts, d.keys = make(map[string]piece), make(keys)
	}
	var wanted []string
	for _, key := range members {
		if _, known := d.parts[key]; !known {
			wanted, d.parts[key] = append(wanted, key), piece{}
		}
	}
	if len(wanted) == 0 || len(d.doc) == 0 {
		return nil
	}
	if !rawjson.Members(d.doc, func(name, value []byte, _ int) bool {
		key := string(name)
		d.keys.add(key)
		if slices.Contains(wanted, key) {
			d.parts[key] = convertMember(value)
		}
		return true
	}) {
		d.parts = nil
		return &Unreadable{"an expression cannot read the arguments: " + errBroken.Error()}
	}
	return nil
}

// A converter converts a JSON document to Go values, and collects the document's keys.
type converter struct {
	values int
	keys   keys
}

// convert converts a JSON object to Go values of the types map[string]any, []any, string, bool,
// nil, int64, uint64 and float64. An empty doc is converted to an empty object.
func convert(doc []byte) piece {
	if len(doc) == 0 {
		return piece{value: map[string]any{}, ok: true}
	}
	p := convertMember(doc)
	if _, ok := p.value.(map[string]any); !ok && p.err == nil {
		p.err = &Unreadable{"the arguments are not an object"}
	}
	return p
}

// convertMember converts an argument. It fails if the argument exceeds the limits.
func convertMember(doc []byte) piece { return convertFrom("arguments", doc) }

// convertFrom converts a JSON value. It fails if the value exceeds the limits. The source parameter
// describes the value in error messages; it must be a plural, such as "arguments".
func convertFrom(source string, doc []byte) piece {
	if len(doc) > maxArgs {
		return piece{ok: true, err: &Unreadable{fmt.Sprintf("the %s are too large for an expression: %d bytes; the limit is %d", source, len(doc), maxArgs)}}
	}
	c := converter{keys: make(keys)}
	v, err := c.value(doc)
	if err != nil {
		return piece{ok: true, err: &Unreadable{"an expression cannot read the " + source + ": " + err.Error()}}
	}
	return piece{value: v, ok: true, keys: c.keys}
}

var errBroken = errors.New("they are not JSON")

func (c *converter) value(doc []byte) (any, error) {
	if c.values++; c.values > maxValues {
		return nil, fmt.Errorf("they contain more than %d values", maxValues)
	}
	switch rawjson.Kind(doc) {
	case '{':
		return c.object(doc)
	case '[':
		return c.array(doc)
	case '"':
		s, ok := rawjson.String(doc)
		if !ok {
			return nil, errBroken
		}
		return s, nil
	case '0':
		return number(strings.TrimSpace(string(doc)))
	case 't':
		return true, nil
	case 'f':
		return false, nil
	case 'n':
		return nil, nil
	}
	return nil, errBroken
}

func (c *converter) object(doc []byte) (any, error) {
	m := make(map[string]any)
	var err error
	whole := rawjson.Members(doc, func(key, v []byte, _ int) bool {
		c.keys.add(string(key))
		m[string(key)], err = c.value(v)
		return err == nil
	})
	return m, firstError(whole, err)
}

func (c *converter) array(doc []byte) (any, error) {
	list := []any{}
	var err error
	whole := rawjson.Elements(doc, func(v []byte, _ int) bool {
		var item any
		item, err = c.value(v)
		list = append(list, item)
		return err == nil
	})
	return list, firstError(whole, err)
}

func firstError(whole bool, err error) error {
	if err == nil && !whole {
		return errBroken
	}
	return err
}

// number converts a JSON number. It never rounds an integer. If the number would overflow or
// underflow, number returns an error.
func number(text string) (any, error) {
	if !strings.ContainsAny(text, ".eE") {
		if i, err := strconv.ParseInt(text, 10, 64); err == nil {
			return i, nil
		}
		if u, err := strconv.ParseUint(text, 10, 64); err == nil {
			return u, nil
		}
		return nil, errors.New("a number does not fit in 64 bits")
	}
	f, err := strconv.ParseFloat(text, 64)
	mantissa, _, _ := strings.Cut(strings.ToLower(text), "e")
	switch {
	case err != nil || math.IsInf(f, 0):
		return nil, errors.New("a number is too large")
	case f == 0 && strings.ContainsAny(mantissa, "123456789"):
		return nil, errors.New("a number is too small")
	}
	return f, nil
}

// A lookup specifies what an expression reads in an object.
type lookup struct {
	members []string // members that the expression reads; nil means all members
	keys    []string // keys that the expression reads in the object or in objects nested in it
}
