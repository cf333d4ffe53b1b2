package gate

import "strings"

// Nearest is the word among those given that a misspelt word most probably
// means, or nothing where none is near: at most one edit in three letters.
func Nearest(word string, among []string) string {
	best, least := "", max(1, len(word)/3)+1
	for _, w := range among {
		if w == word {
			continue
		}
		if d := edits(strings.ToLower(word), strings.ToLower(w)); d < least {
			best, least = w, d
		}
	}
	return best
}

// edits is how many letters have to be inserted, left out, replaced or swapped
// with their neighbor to make b of a.
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
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+differ(r[i-1], t[j-1]))
			if i > 1 && j > 1 && r[i-1] == t[j-2] && r[i-2] == t[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(t)]
}

func differ(a, b rune) int {
	if a == b {
		return 0
	}
	return 1
}
