package mining

import "math"

// chance is how probable what was seen would be if there were no rule, as a logarithm.
type chance float64

// doubt is how probable it may be that any rule at all is proposed by chance.
const doubt = 0.001

// beats reports whether chance is no explanation, where so many rules were tried.
func (c chance) beats(tried int) bool {
	return float64(c) <= math.Log(doubt)-math.Log(float64(max(tried, 1)))
}

func lnChoose(n, k int) float64 {
	if k < 0 || k > n {
		return math.Inf(-1)
	}
	lg := func(x int) float64 { v, _ := math.Lgamma(float64(x + 1)); return v }
	return lg(n) - lg(k) - lg(n-k)
}

// onceByChance is the chance that of a successes of A and b calls of B in any order an A comes first.
func onceByChance(a, b int) chance { return chance(math.Log(float64(a)) - math.Log(float64(a+b))) }

// eachByChance is the chance that an A comes before each B, behind the B before.
func eachByChance(a, b int) chance { return chance(lnChoose(a, b) - lnChoose(a+b, b)) }

// noneAfter is the chance that no B comes behind an A.
func noneAfter(a, b int) chance { return chance(-lnChoose(a+b, a)) }

// meetings is the chance that of n sessions, of which a have A and b have B, at most so many
// have both.
func meetings(n, a, b, both int) chance {
	sum := 0.0
	for k := max(0, a+b-n); k <= both; k++ {
		sum += math.Exp(lnChoose(a, k) + lnChoose(n-a, b-k) - lnChoose(n, b))
	}
	return chance(math.Log(min(sum, 1)))
}

// covered is the chance that of n sessions, of which so many have the one and so many the other, all have one of
// both, were they independent.
func covered(n, one, other int) chance {
	return chance(lnChoose(one, n-other) - lnChoose(n, other))
}

// present is the chance that so many sessions all have what so many of the others have, were these like
// them: few others say little.
func present(sessions, had, of int) chance {
	lg := func(x int) float64 { v, _ := math.Lgamma(float64(x)); return v }
	return chance(lg(had+1+sessions) - lg(had+1) + lg(of+2) - lg(of+2+sessions))
}

// piled is the chance that so many of n are at one of some values, were all of these as probable.
func piled(many, n, values int) chance {
	return min(0, chance(lnChoose(n, many)-float64(many)*math.Log(float64(values))))
}
