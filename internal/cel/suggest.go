package cel

import (
	"fmt"
	"slices"
)

// suggest is a hint that names the known word nearest to a misspelt one.
func suggest(word string, known []string) string {
	best, least := "", max(2, len(word)/3)+1
	for _, k := range slices.Sorted(slices.Values(known)) {
		if d := distance(word, k); d < least && d < len(k) {
			best, least = k, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("did you mean %q?", best)
}

// distance counts the letters to insert, to delete and to replace.
func distance(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return 64 // nobody misspells a word of this length
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0]++
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
