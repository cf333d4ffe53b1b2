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

// The limits of what an expression reads of one call.
const (
	maxArgs   = 1 << 20 // bytes of one argument, or of all where all are looked at
	maxValues = 20_000  // values in them
)

// An Unreadable says why the arguments of a call cannot be given to an
// expression.
type Unreadable struct{ Msg string }

// Error is the message.
func (e *Unreadable) Error() string { return e.Msg }

// A document is one JSON object as the data of expressions. What they ask for
// is converted then, and once: a large text that no expression looks at costs
// nothing. It is for one goroutine.
type document struct {
	doc   []byte
	parts map[string]piece // what was looked for
	keys  keys             // of the object itself
	whole piece
}

// piece is one value of an object, or the whole of it.
type piece struct {
	value any
	ok    bool // it is there
	keys  keys // in it
	err   error
}

// read is an error if the piece cannot be told, or not by these keys.
func (p *piece) read(wanted []string) error {
	for _, key := range wanted {
		if err := p.keys.doubt(key); err != nil {
			return cmp.Or(p.err, err)
		}
	}
	return p.err
}

// get is the object with the members that are wanted. Others may be in it too.
func (d *document) get(want lookup) (map[string]any, error) {
	if want.members == nil {
		return d.everything(want.keys)
	}
	if err := d.look(want.members); err != nil {
		return nil, err
	}
	m := make(map[string]any, len(want.members))
	for _, key := range want.members {
		p := d.parts[key]
		if err := cmp.Or(d.keys.doubt(key), p.read(want.keys)); err != nil {
			return nil, err
		}
		if p.ok {
			m[key] = p.value
		}
	}
	return m, nil
}

// everything converts the object as a whole.
func (d *document) everything(wanted []string) (map[string]any, error) {
	if !d.whole.ok {
		d.whole = convert(d.doc)
	}
	m, _ := d.whole.value.(map[string]any)
	return m, d.whole.read(wanted)
}

// look converts the members that were not looked for before.
func (d *document) look(members []string) error {
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
			d.parts[key] = converted(value)
		}
		return true
	}) {
		d.parts = nil
		return &Unreadable{"the arguments cannot be read by an expression: " + errBroken.Error()}
	}
	return nil
}

// converter makes Go values of one JSON document.
type converter struct {
	values int
	keys   keys
}

// convert makes Go values of a JSON object: map[string]any, []any, string,
// bool, nil, int64, uint64 and float64. No object is an empty one.
func convert(doc []byte) piece {
	if len(doc) == 0 {
		return piece{value: map[string]any{}, ok: true}
	}
	p := converted(doc)
	if _, ok := p.value.(map[string]any); !ok && p.err == nil {
		p.err = &Unreadable{"the arguments are no object"}
	}
	return p
}

// converted returns a value of the arguments within the limits.
func converted(doc []byte) piece { return convertedFrom("arguments", doc) }

// convertedFrom returns a value within the limits; from names what it is part of.
func convertedFrom(from string, doc []byte) piece {
	if len(doc) > maxArgs {
		return piece{ok: true, err: &Unreadable{fmt.Sprintf("the %s are too large for an expression: %d bytes, and %d are the most", from, len(doc), maxArgs)}}
	}
	c := converter{keys: make(keys)}
	v, err := c.value(doc)
	if err != nil {
		return piece{ok: true, err: &Unreadable{"the " + from + " cannot be read by an expression: " + err.Error()}}
	}
	return piece{value: v, ok: true, keys: c.keys}
}

var errBroken = errors.New("they are no JSON")

func (c *converter) value(doc []byte) (any, error) {
	if c.values++; c.values > maxValues {
		return nil, fmt.Errorf("they hold more than %d values", maxValues)
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
	return m, broken(whole, err)
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
	return list, broken(whole, err)
}

func broken(whole bool, err error) error {
	if err == nil && !whole {
		return errBroken
	}
	return err
}

// number keeps what a number says: a whole one is never rounded, and none
// becomes infinite or nothing.
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
