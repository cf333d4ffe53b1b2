package mining

import "math"

// A chance is the logarithm of the probability of an observation under the null hypothesis that no
// rule exists.
type chance float64

// significance is the accepted probability that any of the proposed rules is due to chance.
const significance = 0.001

// beats reports whether the observation is significant if the given number of rules is tested
// (Bonferroni correction).
func (c chance) beats(tried int) bool {
	return float64(c) <= math.Log(significance)-math.Log(float64(max(tried, 1)))
}

func lnChoose(n, k int) float64 {
	if k < 0 || k > n {
		return math.Inf(-1)
	}
	lg := func(x int) float64 { v, _ := math.Lgamma(float64(x + 1)); return v }
	return lg(n) - lg(k) - lg(n-k)
}

// onceByChance is the chance that, in random order, A succeeds before the first call to B. The
// arguments are the number of successes of A and the number of calls to B.
func onceByChance(a, b int) chance { return chance(math.Log(float64(a)) - math.Log(float64(a+b))) }

// eachByChance is the chance that, in random order, A succeeds before the first call to B and
// between any two consecutive calls to B. The arguments are the number of successes of A and the
// number of calls to B.
func eachByChance(a, b int) chance { return chance(lnChoose(a, b) - lnChoose(a+b, b)) }

// noneAfterByChance is the chance that, in a random order of a+b calls, all calls to B precede all
// calls to A. A is called a times, and B is called b times.
func noneAfterByChance(a, b int) chance { return chance(-lnChoose(a+b, a)) }

// overlapByChance is the chance that two independent calls occur together in at most the observed
// number of sessions (hypergeometric distribution). The arguments are the number of all sessions,
// the numbers of sessions with each call, and the number of sessions with both.
func overlapByChance(n, a, b, both int) chance {
	sum := 0.0
	for k := max(0, a+b-n); k <= both; k++ {
		sum += math.Exp(lnChoose(a, k) + lnChoose(n-a, b-k) - lnChoose(n, b))
	}
	return chance(math.Log(min(sum, 1)))
}

// coveredByChance is the chance that each of n sessions has at least one of two independent calls.
// The first call occurs in a of these sessions, and the second in b.
func coveredByChance(n, a, b int) chance {
	return chance(lnChoose(a, n-b) - lnChoose(n, b))
}

// presentByChance is the chance that every session of a group has a certain call if the call is as
// frequent in the group as in other sessions. The arguments are the size of the group, the number
// of other sessions with the call, and the number of all other sessions. A small number of other
// sessions proves little, so the result is then higher.
func presentByChance(sessions, had, of int) chance {
	lg := func(x int) float64 { v, _ := math.Lgamma(float64(x)); return v }
	return chance(lg(had+1+sessions) - lg(had+1) + lg(of+2) - lg(of+2+sessions))
}

// clusteredByChance is an upper bound of the chance that at least k of n observations have one
// particular value. It assumes that each of the given number of values is equally likely.
func clusteredByChance(k, n, values int) chance {
	return min(0, chance(lnChoose(n, k)-float64(k)*math.Log(float64(values))))
}

func (c chance) probability() float64 { return math.Exp(max(float64(c), -690)) }
