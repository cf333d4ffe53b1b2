package argument

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"maps"
	"slices"

	"github.com/petrigate/petrigate/gate/toolnet"
	"github.com/petrigate/petrigate/internal/jsonpath"
	"github.com/petrigate/petrigate/internal/rawjson"
)

// Fingerprint returns a digest of c's tool and arguments, except the arguments named in ignored.
// Calls that differ in anything else have different digests.
func Fingerprint(c *toolnet.Call, ignored []string) string {
	text := rawjson.AppendString(nil, c.Upstream)
	text = rawjson.AppendString(text, c.Tool)
	sum := sha256.Sum256(appendCanonical(text, rawjson.Omit(c.Args, ignored)))
	return string(sum[:])
}

// appendCanonical appends the canonical form of a JSON value: object keys sorted, strings with the
// fewest possible escapes, numbers formatted by [jsonpath.Scalar]. An empty document counts as an
// empty object.
func appendCanonical(text, doc []byte) []byte {
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	var value any
	switch err := d.Decode(&value); {
	case len(doc) == 0:
		return append(text, "{}"...)
	case err != nil:
		return append(text, doc...) // the value is not JSON, so it is compared byte for byte
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
		return append(text, v...) // a number that cannot be formatted is compared by its spelling
	case bool:
		if v {
			return append(text, 't')
		}
		return append(text, 'f')
	default:
		return append(text, 'n')
	}
}
