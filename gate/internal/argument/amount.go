// Package argument reads the arguments of calls. It determines the amount that a call spends, and
// whether two calls are identical. It has no state.
package argument

import (
	"math/big"
	"strconv"
	"strings"

	"github.com/petrigate/petrigate/gate/toolnet"
	"github.com/petrigate/petrigate/internal/jsonpath"
	"github.com/petrigate/petrigate/internal/rawjson"
)

// Limits on an amount, which bound the work per call.
const (
	maxAmountDigits   = 100
	maxAmountExponent = 100
)

// Amount returns the field's value as a number and in its original spelling. ok is true only if the
// field has exactly one value and this value is a nonnegative number. The length and the exponent
// of the number are limited.
func Amount(f *toolnet.Field, c *toolnet.Call) (amount *big.Rat, number string, ok bool) {
	value, ok := single(f, c)
	if !ok || rawjson.Kind(value) != '0' || len(value) > maxAmountDigits {
		return nil, "", false
	}
	number = strings.TrimSpace(string(value))
	if i := strings.IndexAny(number, "eE"); i >= 0 {
		if e, err := strconv.Atoi(number[i+1:]); err != nil || e < -maxAmountExponent || e > maxAmountExponent {
			return nil, "", false
		}
	}
	amount, ok = new(big.Rat).SetString(number)
	return amount, number, ok && amount.Sign() >= 0
}

// single returns the field's value in the call's arguments. ok is false if the field has no value
// or several values.
func single(f *toolnet.Field, c *toolnet.Call) (value []byte, ok bool) {
	if f.Reader != nil {
		return Evaluate(f, c)
	}
	if jsonpath.IsPath(f.Path) {
		p, _ := jsonpath.Parse(f.Path)
		return p.Single(c.Args)
	}
	return jsonpath.SingleMember(c.Args, f.Path)
}

// Evaluate evaluates the field's expression. It returns false if the field's reader panics.
func Evaluate(f *toolnet.Field, c *toolnet.Call) (value []byte, ok bool) {
	defer func() {
		if recover() != nil {
			value, ok = nil, false
		}
	}()
	return f.Reader.Value(c, f.Number)
}

// Text returns the string that the [toolnet.Map] m reads from the call c. ok is false unless the
// field of m has exactly one value, a string.
func Text(m *toolnet.Map, c *toolnet.Call) (string, bool) {
	if m.Field == "" {
		return "", false
	}
	value, ok := single(&toolnet.Field{Path: m.Field}, c)
	if !ok || rawjson.Kind(value) != '"' {
		return "", false
	}
	return rawjson.String(value)
}
