package statecode

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/petrigate/petrigate/internal/rawjson"
)

// maxDepth bounds the nesting depth of the JSON for a part of a state.
const maxDepth = 128

// appendObject appends metadata as a JSON object. The notation of a number indicates its type: 5 is
// an int64, 5.0 a float64, and 5e0 a uint64.
func appendObject(dst []byte, m map[string]any) ([]byte, error) {
	dst = append(dst, '{')
	for k, key := range slices.Sorted(maps.Keys(m)) {
		if k > 0 {
			dst = append(dst, ',')
		}
		dst = append(rawjson.AppendString(dst, key), ':')
		var err error
		if dst, err = appendAny(dst, m[key]); err != nil {
			return dst, fmt.Errorf("%q has %w", key, err)
		}
	}
	return append(dst, '}'), nil
}

func appendAny(dst []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...), nil
	case bool:
		return strconv.AppendBool(dst, v), nil
	case string:
		return rawjson.AppendString(dst, v), nil
	case int64:
		return strconv.AppendInt(dst, v, 10), nil
	case uint64:
		return append(strconv.AppendUint(dst, v, 10), "e0"...), nil
	case float64:
		return appendFloat(dst, v)
	case map[string]any:
		return appendObject(dst, v)
	case []any:
		dst = append(dst, '[')
		for k, item := range v {
			if k > 0 {
				dst = append(dst, ',')
			}
			var err error
			if dst, err = appendAny(dst, item); err != nil {
				return dst, err
			}
		}
		return append(dst, ']'), nil
	}
	return dst, fmt.Errorf("a value of type %T; the supported types are string, bool, int64, uint64, float64, []any, map[string]any and nil", v)
}

func appendFloat(dst []byte, f float64) ([]byte, error) {
	text := strconv.FormatFloat(f, 'g', -1, 64)
	if strings.ContainsAny(text, "IN") {
		return dst, fmt.Errorf("the value %s, which is not finite", text)
	}
	if strings.Contains(text, ".") {
		return append(dst, text...), nil
	}
	whole, exponent, is := strings.Cut(text, "e")
	dst = append(append(dst, whole...), ".0"...)
	if is {
		dst = append(append(dst, 'e'), exponent...)
	}
	return dst, nil
}

// readAny decodes a value encoded by appendAny. The value must be valid JSON.
func readAny(value []byte) (v any, ok bool) {
	switch rawjson.Kind(value) {
	case 'n':
		return nil, true
	case 't', 'f':
		return value[0] == 't', true
	case '"':
		return rawjson.String(value)
	case '{':
		return readObject(value)
	case '[':
		list := []any{}
		ok = rawjson.Elements(value, func(item []byte, _ int) bool {
			v, ok := readAny(item)
			list = append(list, v)
			return ok
		})
		return list, ok
	default:
		return readNumber(value)
	}
}

func readObject(value []byte) (m map[string]any, ok bool) {
	m = map[string]any{}
	ok = rawjson.Members(value, func(key, item []byte, _ int) bool {
		v, ok := readAny(item)
		m[string(key)] = v
		return ok
	})
	return m, ok
}

func readNumber(value []byte) (v any, ok bool) {
	var err error
	whole, unsigned := bytes.CutSuffix(value, []byte("e0"))
	switch {
	case bytes.IndexByte(value, '.') >= 0:
		v, err = strconv.ParseFloat(string(value), 64)
	case unsigned:
		v, err = strconv.ParseUint(string(whole), 10, 64)
	default:
		v, err = strconv.ParseInt(string(value), 10, 64)
	}
	return v, err == nil
}
