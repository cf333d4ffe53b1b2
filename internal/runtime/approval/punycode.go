package approval

import (
	"strings"
	"unicode/utf8"
)

// punycodeHost converts a host name to its ASCII form (RFC 3492). It folds case but does not
// otherwise normalize the name. That is enough to distinguish the name from a look-alike.
func punycodeHost(host string) string {
	labels := strings.Split(strings.ToLower(host), ".")
	for i, label := range labels {
		if !ascii(label) {
			labels[i] = "xn--" + punycode(label)
		}
	}
	return strings.Join(labels, ".")
}

// Parameters of RFC 3492, section 5.
const (
	base        = 36
	tMin, tMax  = 1, 26
	skew, damp  = 38, 700
	initialBias = 72
	initialN    = 0x80
)

// punycode encodes one label of a host name.
func punycode(label string) string {
	var out []byte
	for _, r := range label {
		if r < utf8.RuneSelf {
			out = append(out, byte(r))
		}
	}
	basic := len(out)
	if basic > 0 {
		out = append(out, '-')
	}
	n, delta, bias := rune(initialN), 0, initialBias
	for handled, length := basic, utf8.RuneCountInString(label); handled < length; {
		next := rune(utf8.MaxRune)
		for _, r := range label {
			if r >= n {
				next = min(next, r)
			}
		}
		delta += int(next-n) * (handled + 1)
		n = next
		for _, r := range label {
			if r < n {
				delta++
			}
			if r == n {
				out = appendNumber(out, delta, bias)
				bias = adapt(delta, handled+1, handled == basic)
				delta, handled = 0, handled+1
			}
		}
		delta++
		n++
	}
	return string(out)
}

// appendNumber appends q as a variable-length integer, least significant digit first.
func appendNumber(out []byte, q, bias int) []byte {
	const digits = "abcdefghijklmnopqrstuvwxyz0123456789"
	for k := base; ; k += base {
		t := min(max(k-bias, tMin), tMax)
		if q < t {
			return append(out, digits[q])
		}
		out = append(out, digits[t+(q-t)%(base-t)])
		q = (q - t) / (base - t)
	}
}

func adapt(delta, count int, first bool) int {
	if first {
		delta /= damp
	} else {
		delta /= 2
	}
	delta += delta / count
	k := 0
	for ; delta > (base-tMin)*tMax/2; k += base {
		delta /= base - tMin
	}
	return k + (base-tMin+1)*delta/(delta+skew)
}
