package mining

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/petrigate/petrigate/internal/policy/toolkind"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
)

// An action is an admitted call under all of its names.
type action struct {
	names     []named
	time      time.Time
	principal string
	values    []fieldValue
	row       string // equal strings for equal calls; empty: unknown
	clock     int    // the session's clock at admission
}

// A named is one name of a call, which is either its tool or a name that a policy map gives it.
type named struct {
	tool    int  // index in reader.names
	certain bool // the name counts as evidence; otherwise it may only restrict the call
}

// A fieldValue is a scalar argument.
type fieldValue struct{ field, value string }

// A pair is a possible rule "A before B".
type pair struct{ a, b int }

// value returns the value of a field, or the combined value of a key with two fields.
func (a *action) value(field string) (string, bool) {
	if one, other, two := strings.Cut(field, joined); two {
		v, ok := a.value(one)
		w, also := a.value(other)
		return v + joined + w, ok && also
	}
	for _, f := range a.values {
		if f.field == field {
			return f.value, true
		}
	}
	return "", false
}

// joined separates the names of two fields, and also their values. Names in rules cannot contain
// it.
const joined = "\x00"

// read extracts the recorded values. These are the arguments, or their hashes if the arguments are
// not recorded.
func (a *action) read(e *trail.Entry) {
	a.row = e.Row
	if len(e.Args) == 0 {
		if a.row == "" && (e.Arguments == audit.HashOf("") || e.Arguments == audit.HashOf("{}")) {
			a.row = fmt.Sprint(a.names, " {}")
		}
		for _, v := range e.Values {
			if len(v.Hashes) == 1 && v.Lacks == "" && toolkind.Plain(v.Field) { // a log may contain arbitrary text
				a.values = append(a.values, fieldValue{v.Field, v.Hashes[0]})
			}
		}
		return
	}
	if a.row == "" {
		a.row = fmt.Sprint(a.names, " ", string(e.Args))
	}
	rawjson.Members(e.Args, func(key, v []byte, _ int) bool {
		kind := rawjson.Kind(v)
		hidden := bytes.HasPrefix(v, []byte(`"***`))
		if (kind == '"' || kind == '0') && !hidden && len(v) <= maxValueSize && len(a.values) < maxFields && toolkind.Plain(string(key)) {
			a.values = append(a.values, fieldValue{string(key), string(v)})
		}
		return true
	})
}

// Limits that bound the memory use for logs of any length.
const (
	maxTools     = 300  // maximum number of call names
	maxFields    = 8    // maximum number of fields per tool
	maxValues    = 5000 // maximum number of values per field and session
	maxValueSize = 256  // maximum size in bytes
)
