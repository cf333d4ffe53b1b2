package config

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Object returns a mapping as a JSON object, with the keys in file order and the numbers unchanged.
func (v Value) Object() (json.RawMessage, bool) {
	if !v.hasKind(mapKind) {
		return nil, false
	}
	return v.JSON()
}

// JSON returns a value of any kind as JSON, with the keys of mappings in file order and the numbers
// unchanged.
func (v Value) JSON() (json.RawMessage, bool) {
	before := v.Faults()
	text := v.appendJSON(nil)
	return text, v.Faults() == before
}

// appendJSON appends the JSON encoding of v to the given slice and returns the extended slice.
func (v Value) appendJSON(to []byte) []byte {
	switch v.kind {
	case mapKind:
		to = append(to, '{')
		v.Each(func(key string, value Value) { to = append(value.appendJSON(append(appendText(to, key), ':')), ',') })
		return append(bytes.TrimSuffix(to, []byte(",")), '}')
	case listKind:
		to = append(to, '[')
		for _, item := range v.items {
			to = append(Value{decoder: v.decoder, node: item}.appendJSON(to), ',')
		}
		return append(bytes.TrimSuffix(to, []byte(",")), ']')
	case textKind:
		return appendText(to, v.text)
	case numberKind:
		if !json.Valid([]byte(v.text)) {
			v.Fault(fmt.Sprintf("%q is not a JSON number", v.text), "quote it, or write a JSON number")
		}
		return append(to, v.text...)
	case boolKind:
		return append(to, v.text...)
	default:
		return append(to, "null"...)
	}
}

func appendText(to []byte, text string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		panic(err) // a string can always be encoded
	}
	return append(to, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...)
}
