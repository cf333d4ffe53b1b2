package argument

import (
	"math/big"
	"strconv"
	"strings"

	"github.com/petrigate/petrigate/gate/toolnet"
	"github.com/petrigate/petrigate/internal/jsonpath"
	"github.com/petrigate/petrigate/internal/rawjson"
)

// Bounds of an amount, so that the work for one call is bounded.
const (
	maxAmountDigits   = 100
	maxAmountExponent = 100
)

// Amount returns the value of the field, if that is one number, which is not negative,
// and not too long.
func Amount(f *toolnet.Field, c *toolnet.Call) (*big.Rat, bool) {
	value, ok := single(f, c)
	if !ok || rawjson.Kind(value) != '0' || len(value) > maxAmountDigits {
		return nil, false
	}
	number := strings.TrimSpace(string(value))
	if i := strings.IndexAny(number, "eE"); i >= 0 {
		if e, err := strconv.Atoi(number[i+1:]); err != nil || e < -maxAmountExponent || e > maxAmountExponent {
			return nil, false
		}
	}
	amount, ok := new(big.Rat).SetString(number)
	return amount, ok && amount.Sign() >= 0
}

// single returns the one value of the field in the arguments of the call.
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

// Evaluate evaluates the expression of the field. A reader that panics has no value.
func Evaluate(f *toolnet.Field, c *toolnet.Call) (value []byte, ok bool) {
	defer func() {
		if recover() != nil {
			value, ok = nil, false
		}
	}()
	return f.Reader.Value(c, f.Number)
}

// Decimal writes a number that is not negative: whole, or with two to six decimal
// places. If it has more, it is rounded to two.
func Decimal(r *big.Rat, up bool) string {
	places, exact := r.FloatPrec()
	switch {
	case places == 0 && exact:
		return r.FloatString(0)
	case exact && places <= 6:
		return r.FloatString(max(places, 2))
	}
	hundred := big.NewRat(100, 1)
	scaled := new(big.Rat).Mul(r, hundred)
	whole := Ceil(scaled)
	if !up {
		whole = new(big.Int).Quo(scaled.Num(), scaled.Denom())
	}
	return new(big.Rat).Quo(new(big.Rat).SetInt(whole), hundred).FloatString(2)
}

// Ceil returns the least whole number that is not below r, which is not negative.
func Ceil(r *big.Rat) *big.Int {
	whole, rest := new(big.Int).QuoRem(r.Num(), r.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		whole.Add(whole, big.NewInt(1))
	}
	return whole
}
