package text

import (
	"fmt"
	"strings"
)

// maxWord is the maximum length, in bytes, of the words that are compared.
const maxWord = 128

// Nearest returns the known word most similar to a misspelled word, or "" if no word is similar
// enough. It allows one edit for every three letters and never returns the misspelled word itself.
func Nearest(word string, among []string) string {
	best, least := "", max(1, len(word)/3)+1
	if len(word) > maxWord {
		return ""
	}
	for _, w := range among {
		if w == word || len(w) > maxWord {
			continue
		}
		if d := edits(strings.ToLower(word), strings.ToLower(w)); d < least {
			best, least = w, d
		}
	}
	return best
}

// Suggest returns a hint such as `did you mean "x"?`, where x is the result of [Nearest]. It
// returns "" if no known word is similar enough.
func Suggest(word string, known []string) string {
	near := Nearest(word, known)
	if near == "" {
		return ""
	}
	return fmt.Sprintf("did you mean %q?", near)
}

// DidYouMean returns a phrase to append to a sentence, or "" if no known word is similar enough.
// For example, it returns " (did you mean tools.x?)" if the caller passes "tools." and [Nearest]
// returns x.
func DidYouMean(word, before string, known []string) string {
	if near := Nearest(word, known); near != "" {
		return fmt.Sprintf(" (did you mean %s%s?)", before, near)
	}
	return ""
}

// edits returns the optimal string alignment distance between a and b: how many times a letter must
// be inserted, deleted, replaced, or swapped with its neighbor to turn a into b.
func edits(a, b string) int {
	r, t := []rune(a), []rune(b)
	before, last := make([]int, len(t)+1), make([]int, len(t)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(r); i++ {
		row := make([]int, len(t)+1)
		row[0] = i
		for j := 1; j <= len(t); j++ {
			replaced := last[j-1]
			if r[i-1] != t[j-1] {
				replaced++
			}
			row[j] = min(last[j]+1, row[j-1]+1, replaced)
			if i > 1 && j > 1 && r[i-1] == t[j-2] && r[i-2] == t[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(t)]
}
