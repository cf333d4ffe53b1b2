package gate

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"maps"
	"slices"

	"github.com/petrigate/petrigate/internal/jsonpath"
	"github.com/petrigate/petrigate/internal/rawjson"
)

// follow puts the net back to its start, if the call is another than the one before
// that it counted: that is so once the call is admitted.
func (f *finding) follow(row string) {
	if f.net.Row && f.data.Row() != "" && f.data.Row() != row {
		f.data, f.anew = f.net.anew(f.data), true
	}
}

// anew returns the net at its start. Calls in flight settle without effect, but those
// that spoil evidence are still under way.
func (n *net) anew(d *NetData) *NetData {
	fresh := &NetData{Active: d.Active, Marking: n.start, Shadow: d.Shadow}
	fresh.setSpoilers(d.Spoilers())
	return fresh
}

// count remembers the call of a net that counts equal calls in a row.
func (m *move) count(f *finding, row string) {
	if !f.forbids() {
		row = ""
	}
	m.data.setRow(row)
}

// rowOf returns a fingerprint that calls of one tool with equal arguments have, and no
// others.
func rowOf(c *Call) string {
	text := rawjson.AppendString(nil, c.Upstream)
	text = rawjson.AppendString(text, c.Tool)
	sum := sha256.Sum256(appendCanonical(text, c.Args))
	return string(sum[:])
}

// appendCanonical appends the one spelling of a JSON value: the keys of objects in
// order, strings with as few escapes as there can be, numbers by [jsonpath.Scalar].
// Nothing at all is an empty object.
func appendCanonical(text, doc []byte) []byte {
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	var value any
	switch err := d.Decode(&value); {
	case len(doc) == 0:
		return append(text, "{}"...)
	case err != nil:
		return append(text, doc...) // not JSON: equal if its bytes are
	}
	return appendValue(text, value)
}

func appendValue(text []byte, value any) []byte {
	switch v := value.(type) {
	case map[string]any:
		text = append(text, '{')
		for _, key := range slices.Sorted(maps.Keys(v)) {
			text = append(rawjson.AppendString(text, key), ':')
			text = append(appendValue(text, v[key]), ',')
		}
		return append(text, '}')
	case []any:
		text = append(text, '[')
		for _, element := range v {
			text = append(appendValue(text, element), ',')
		}
		return append(text, ']')
	case string:
		return rawjson.AppendString(text, v)
	case json.Number:
		if number, ok := jsonpath.Scalar([]byte(v)); ok {
			return append(text, number...)
		}
		return append(text, v...) // it is equal to what is spelled so
	case bool:
		if v {
			return append(text, 't')
		}
		return append(text, 'f')
	default:
		return append(text, 'n')
	}
}
