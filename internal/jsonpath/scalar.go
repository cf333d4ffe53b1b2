package jsonpath

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/petrigate/petrigate/internal/rawjson"
)

// Scalar returns the canonical JSON text of a string, number or boolean. Values are equal if and
// only if their texts are equal. ok is false for any other value, and for a number with an exponent
// of more than nine digits.
func Scalar(value []byte) (text string, ok bool) {
	value = bytes.Trim(value, " \t\r\n")
	switch rawjson.Kind(value) {
	case '"':
		return spellString(value)
	case '0':
		return spellNumber(value)
	case 't', 'f':
		return string(value), rawjson.Skip(value, 0) == len(value)
	default:
		return "", false
	}
}

// spellString returns a string literal with as few escapes as possible.
func spellString(lit []byte) (string, bool) {
	if _, ok := rawjson.Bare(lit); ok {
		return string(lit), true
	}
	s, ok := rawjson.String(lit)
	if !ok {
		return "", false
	}
	return string(rawjson.AppendString(nil, s)), true
}

// spellNumber returns a number without insignificant zeros. The result has an exponent only if the
// number is very large or very small.
func spellNumber(lit []byte) (string, bool) {
	if rawjson.Skip(lit, 0) != len(lit) {
		return "", false
	}
	const exponentDigits, far = 9, 20
	sign, unsigned := "", string(lit)
	if rest, minus := strings.CutPrefix(unsigned, "-"); minus {
		sign, unsigned = "-", rest
	}
	mantissa, exponent := unsigned, 0
	if i := strings.IndexAny(unsigned, "eE"); i >= 0 {
		digits := strings.TrimLeft(unsigned[i+1:], "+-0")
		if len(digits) > exponentDigits {
			return "", false
		}
		mantissa = unsigned[:i]
		exponent, _ = strconv.Atoi(unsigned[i+1:])
	}
	whole, part, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+part, "0")
	if digits == "" {
		return "0", true
	}
	exponent -= len(part)
	significant := strings.TrimRight(digits, "0")
	exponent += len(digits) - len(significant)
	switch point := len(significant) + exponent; {
	case exponent >= 0 && point <= far:
		return sign + significant + strings.Repeat("0", exponent), true
	case exponent < 0 && point > 0:
		return sign + significant[:point] + "." + significant[point:], true
	case exponent < 0 && point > -far:
		return sign + "0." + strings.Repeat("0", -point) + significant, true
	default:
		return sign + significant + "e" + strconv.Itoa(exponent), true
	}
}
