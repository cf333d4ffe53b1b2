package gate_test

import (
	"testing"

	"github.com/petrigate/petrigate/gate"
)

func TestNearest(t *testing.T) {
	known := []string{"delete", "deploy", "rm", "read_file"}
	tests := map[string]string{
		"delte": "delete", "Delete": "delete", "deplyo": "deploy", "delete": "", "rn": "rm", "xy": "", "readfile": "read_file", "": "",
		"zzzzzzzzz": "",
	}
	for word, want := range tests {
		if got := gate.Nearest(word, known); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
}
