package wire

import (
	"bytes"

	"github.com/petrigate/petrigate/internal/rawjson"
)

const (
	maxDepth     = 128  // levels of nesting
	maxIDString  = 1024 // bytes of the literal, without quotes
	maxIDInteger = 20   // digits
	maxMethod    = 256
)

// validID reports whether id is a string or an integer of acceptable length.
func validID(id []byte) bool {
	if rawjson.Kind(id) == '"' {
		return len(id) <= maxIDString+2
	}
	return isInteger(id)
}

// isInteger reports whether value is a number without fraction and exponent. Its magnitude does not
// matter, because the proxy never computes with it.
func isInteger(value []byte) bool {
	digits := bytes.TrimPrefix(value, []byte("-"))
	if len(digits) == 0 || len(digits) > maxIDInteger {
		return false
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// IDKey returns a key that is equal for ids that mean the same, however they are written. An
// integer and a string never have the same key.
func IDKey(id []byte) string {
	if s, ok := rawjson.String(id); ok {
		return `"` + s
	}
	if string(id) == "-0" {
		return "0"
	}
	return string(id)
}
