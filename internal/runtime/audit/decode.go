package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/petrigate/petrigate/internal/rawjson"
)

// ReadEntry decodes an event. The result can share memory with the argument.
//
// A replay decodes millions of events. ReadEntry therefore does not use package json, whose
// reflection would take five times as long.
func ReadEntry(event []byte) (e Entry, err error) {
	d := decoder{}
	at, others := e.Decision.fields(), e.fields()
	if !d.object(event, entryTable, at[:], others[:]) && d.err == nil {
		d.err = errors.New("it is not a JSON object")
	}
	return e, d.err
}

// A decoder decodes JSON and keeps its first error.
type decoder struct{ err error }

// object decodes the members of a JSON object into the fields of a struct, and ignores unknown
// members. The slices first and rest together contain pointers to all fields, in the order of the
// table t. object returns false if the JSON object is invalid or a member has the wrong type. In
// the latter case, it sets d.err.
func (d *decoder) object(object []byte, t table, first, rest []any) bool {
	next := 0
	return rawjson.Members(object, func(key, v []byte, _ int) bool {
		if i := t.find(key, next); i >= 0 {
			next = i + 1
			to := first
			if i >= len(first) {
				to = rest
				i -= len(first)
			}
			if !d.value(to[i], v) && d.err == nil {
				d.err = fmt.Errorf("its member %q has the wrong type", key)
			}
		}
		return d.err == nil
	})
}

// value decodes v into the variable that target points to. It reports whether v has the right type.
func (d *decoder) value(target any, v []byte) (ok bool) {
	var err error
	switch to := target.(type) {
	case *string:
		*to, ok = rawjson.String(v)
		return ok
	case *time.Time:
		err = to.UnmarshalJSON(v)
	case *uint64:
		*to, err = strconv.ParseUint(string(v), 10, 64)
	case *int:
		var n uint64
		n, err = strconv.ParseUint(string(v), 10, 64)
		*to = int(n)
	case *float64:
		*to, err = strconv.ParseFloat(string(v), 64)
	case *bool:
		*to = string(v) == "true"
	case *json.RawMessage:
		*to = v
	case *json.Number:
		*to = json.Number(v)
	case *[]string:
		return rawjson.Elements(v, func(v []byte, _ int) bool {
			s, ok := rawjson.String(v)
			*to = append(*to, s)
			return ok
		})
	case *[]json.RawMessage:
		return rawjson.Elements(v, func(v []byte, _ int) bool {
			*to = append(*to, v)
			return true
		})
	case *[]NetVerdict:
		return rawjson.Elements(v, func(v []byte, _ int) bool {
			*to = append(*to, NetVerdict{})
			at := (*to)[len(*to)-1].fields()
			return d.object(v, netTable, at[:], nil)
		})
	case *[]Value:
		return rawjson.Elements(v, func(v []byte, _ int) bool {
			*to = append(*to, Value{})
			at := (*to)[len(*to)-1].fields()
			return d.object(v, valueTable, at[:], nil)
		})
	case **Would:
		*to = &Would{}
		at := (*to).fields()
		return d.object(v, wouldTable, at[:], nil)
	}
	return err == nil
}
