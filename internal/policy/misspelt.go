package policy

import (
	"strings"
	"unicode"
)

// A likeness describes how likely it is that one of two names is a misspelling of the other. Higher
// values are more likely.
type likeness int

const (
	unlike  likeness = iota
	ending           // one word has an additional letter at its end, so it may be a plural
	similar          // a letter inside a long word differs, so the words may be different on purpose
	slip             // a letter is doubled, or two letters are swapped
	joined           // the same words are joined differently: drop_table, drop-table, dropTable
)

// Minimum lengths of words. Shorter words are not compared, because they often resemble one
// another.
const (
	longEnough  = 6
	longWord    = 8
	shortEnding = 4
)

// likenessOf compares two names, each split into words, and returns how similar they are. If they
// differ in a single word that may be a misspelling, it also returns the first name's version of
// the word. Two words are never similar if their first letters differ ("lock" and "unlock") or if
// one of them contains a digit.
func likenessOf(a, b []string) (l likeness, word string) {
	if len(a) != len(b) || len(a) == 0 {
		return unlike, ""
	}
	for i := range a {
		switch {
		case a[i] == b[i]:
			continue
		case l != unlike || a[i][0] != b[i][0] || hasDigit(a[i]) || hasDigit(b[i]):
			return unlike, ""
		}
		if l, word = slipOf([]rune(a[i]), []rune(b[i])), a[i]; l == unlike {
			return unlike, ""
		}
	}
	if l == unlike {
		return joined, ""
	}
	return l, word
}

// slipOf compares two different words and returns their likeness.
func slipOf(a, b []rune) likeness {
	if len(a) < len(b) {
		a, b = b, a
	}
	if len(a) < shortEnding || len(a) > len(b)+1 {
		return unlike
	}
	from := 0
	for from < len(b) && a[from] == b[from] {
		from++
	}
	to := 0
	for to < len(b)-from && a[len(a)-1-to] == b[len(b)-1-to] {
		to++
	}
	x, y := a[from:len(a)-to], b[from:len(b)-to]
	switch {
	case len(x) == 1 && len(y) == 0 && x[0] == a[from-1], len(x) == 2 && len(y) == 2 && x[0] == y[1] && x[1] == y[0]:
		return atLeast(slip, a, longEnough)
	case to == 0 && len(y) == 0:
		return ending
	case len(x) > 1 || to == 0:
		return unlike // several letters differ, or only the last one does; both names may be intended, as in consumer and consumed
	}
	return atLeast(similar, b, longWord)
}

func hasDigit(word string) bool { return strings.ContainsAny(word, "0123456789") }

func atLeast(l likeness, word []rune, letters int) likeness {
	if len(word) < letters {
		return unlike
	}
	return l
}

// wordsOf splits a name into words at separators and before capital letters.
func wordsOf(name string) []string {
	var b strings.Builder
	lower := false
	for _, r := range name {
		switch {
		case r == '_' || r == '-':
			r = ' '
		case r == '.':
			b.WriteString(" .") // a dot separates a server or tool from what follows
			r = ' '
		case unicode.IsUpper(r) && lower:
			b.WriteByte(' ')
		}
		lower = unicode.IsLower(r) || unicode.IsDigit(r)
		b.WriteRune(unicode.ToLower(r))
	}
	return strings.Fields(b.String())
}
