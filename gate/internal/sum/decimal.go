package sum

import "math/big"

// decimal formats a nonnegative number as an integer or with two to six decimal places. A number
// with more places is rounded to two.
func decimal(r *big.Rat, up bool) string {
	places, exact := r.FloatPrec()
	switch {
	case places == 0 && exact:
		return r.FloatString(0)
	case exact && places <= 6:
		return r.FloatString(max(places, 2))
	}
	hundred := big.NewRat(100, 1)
	scaled := new(big.Rat).Mul(r, hundred)
	whole := ceil(scaled)
	if !up {
		whole = new(big.Int).Quo(scaled.Num(), scaled.Denom())
	}
	return new(big.Rat).Quo(new(big.Rat).SetInt(whole), hundred).FloatString(2)
}

// ceil returns the smallest integer that is not less than r. r must not be negative.
func ceil(r *big.Rat) *big.Int {
	whole, rest := new(big.Int).QuoRem(r.Num(), r.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		whole.Add(whole, big.NewInt(1))
	}
	return whole
}
