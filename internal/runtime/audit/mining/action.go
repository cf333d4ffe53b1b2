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

// An action is an admitted call, with all of its names.
type action struct {
	names     []callName
	time      time.Time
	principal string
	values    []fieldValue
	row       string // string that only identical calls share; empty if unknown
	clock     int    // number of events in the session up to the admission of this call, counting admissions and successes
}

// A callName is one of the names of a call: its tool, or an additional name given by a map entry of
// the policy (see [gate.Map]).
type callName struct {
	tool    int  // index of the name in reader.names
	certain bool // whether a successful call with this name can count toward a requirement; false if [audit.Decision] lists the name as uncertain or weak
}

// A fieldValue is the value of a scalar argument.
type fieldValue struct{ field, value string }

// A pair is a possible rule "A before B". Its fields are indices in reader.names.
type pair struct{ a, b int }

// value returns the value of a field. For a two-field key, it returns both values, separated by the
// constant joined.
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

// joined is the separator in a two-field key, between the field names and between the two values.
// Field names in rules cannot contain it.
const joined = "\x00"

// read sets a's values from the recorded arguments, or from their hashes if the arguments are not
// recorded.
func (a *action) read(e *trail.Entry) {
	a.row = e.Row
	if len(e.Args) == 0 {
		if a.row == "" && (e.Arguments == audit.HashOf("") || e.Arguments == audit.HashOf("{}")) {
			a.row = fmt.Sprint(a.names, " {}")
		}
		for _, v := range e.Values {
			if len(v.Hashes) == 1 && v.Lacks == "" && toolkind.IsPlain(v.Field) { // accept only plain field names, because the log may contain arbitrary text
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
		if (kind == '"' || kind == '0') && !hidden && len(v) <= maxValueSize && len(a.values) < maxFields && toolkind.IsPlain(string(key)) {
			a.values = append(a.values, fieldValue{string(key), string(v)})
		}
		return true
	})
}

// Limits on memory use.
const (
	maxTools     = 300  // maximum number of distinct call names
	maxFields    = 8    // maximum number of values kept per call if its arguments are recorded
	maxValues    = 5000 // maximum number of values per field and session
	maxValueSize = 256  // maximum size of a value in bytes
)
