package statecode

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/rawjson"
)

// decoder decodes one stored part of a state: either a session's own part, or nets that sessions
// share. The part must be valid JSON. A decoder keeps its first error.
type decoder struct {
	*Codec
	subject     string // description of the part, for error messages
	state       *gate.State
	info        Info
	scope       gate.Scope
	otherPolicy bool // whether the part was written under another policy
	err         error

	processes map[uint64]string // processes that admitted the open calls, keyed by call number
}

// fail records an error at a position in the part, unless there is an earlier one. It returns
// false.
func (d *decoder) fail(where, format string, args ...any) bool {
	if d.err == nil {
		d.err = fmt.Errorf("%s: %s: %s", d.subject, where, fmt.Sprintf(format, args...))
	}
	return false
}

// object decodes an object. It passes each member to the callback, which returns false if the
// member's key is unknown.
func (d *decoder) object(where string, value []byte, each func(key string, value []byte) bool) {
	whole := rawjson.Members(value, func(key, value []byte, _ int) bool {
		if !each(string(key), value) {
			d.fail(where, "it has the unknown member %.40q", key)
		}
		return d.err == nil
	})
	if !whole && d.err == nil {
		d.fail(where, "is not an object")
	}
}

func (d *decoder) list(where string, value []byte, each func(value []byte)) {
	whole := rawjson.Elements(value, func(value []byte, _ int) bool {
		each(value)
		return d.err == nil
	})
	if !whole && d.err == nil {
		d.fail(where, "is not a list")
	}
}

// tuple decodes a list. It records an error unless the list has exactly len(into) elements.
func (d *decoder) tuple(where string, value []byte, into [][]byte) bool {
	k := 0
	d.list(where, value, func(value []byte) {
		if k < len(into) {
			into[k] = value
		}
		k++
	})
	if d.err == nil && k != len(into) {
		d.fail(where, "has %d elements, not %d", k, len(into))
	}
	return d.err == nil
}

func (d *decoder) text(where string, value []byte) string {
	s, ok := rawjson.String(value)
	if !ok {
		d.fail(where, "%.40s is not a string", value)
	}
	return s
}

func (d *decoder) hex(where string, value []byte) string {
	b, err := hex.DecodeString(d.text(where, value))
	if err != nil || len(b) == 0 {
		d.fail(where, "%.40s is not hexadecimal", value)
	}
	return string(b)
}

func (d *decoder) number(where string, value []byte) uint64 {
	n, err := strconv.ParseUint(string(value), 10, 64)
	if err != nil {
		d.fail(where, "%.40s is not a non-negative integer", value)
	}
	return n
}

// count decodes a number that fits in 31 bits.
func (d *decoder) count(where string, value []byte) int {
	n := d.number(where, value)
	if n > 1<<31-1 {
		d.fail(where, "%d is too many", n)
	}
	return int(n)
}

// flag decodes a member that is written only if it is true.
func (d *decoder) flag(where string, value []byte) bool {
	return string(value) == "true" || d.fail(where, "%.40s is not true", value)
}

func (d *decoder) bool(where string, value []byte) bool {
	return string(value) != "false" && d.flag(where, value)
}

func (d *decoder) time(where string, value []byte) time.Time {
	if string(value) == "null" {
		return time.Time{}
	}
	whole, part, fraction := bytes.Cut(value, []byte{'.'})
	seconds, err := strconv.ParseInt(string(whole), 10, 64)
	nanos := uint64(0)
	if fraction && err == nil {
		if nanos, err = strconv.ParseUint(string(part), 10, 32); len(part) != 9 {
			err = strconv.ErrSyntax
		}
	}
	if err != nil {
		d.fail(where, "%.40s is not a time", value)
	}
	return time.Unix(seconds, int64(nanos)).UTC()
}
