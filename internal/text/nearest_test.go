package text

import (
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	known := []string{"delete", "deploy", "rm", "read_file", strings.Repeat("x", maxWord)}
	tests := map[string]string{
		"delte": "delete", "Delete": "delete", "deplyo": "deploy", "delete": "", "rn": "rm", "xy": "", "readfile": "read_file", "": "",
		"zzzzzzzzz": "", strings.Repeat("x", maxWord+1): "",
	}
	for word, want := range tests {
		if got := Nearest(word, known); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
}

// TestSuggest checks that a hint names the nearest word, and is empty without a near word.
func TestSuggest(t *testing.T) {
	known := []string{"rules", "read"}
	for word, want := range map[string]string{"rulse": `did you mean "rules"?`, "kitten": ""} {
		if got := Suggest(word, known); got != want {
			t.Errorf("Suggest(%q) = %q, want %q", word, got, want)
		}
	}
}
