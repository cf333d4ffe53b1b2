package cel

import (
	"fmt"

	"github.com/petrigate/petrigate/gate"
)

// suggest is a hint that names the known word nearest to a misspelt one.
func suggest(word string, known []string) string {
	near := gate.Nearest(word, known)
	if near == "" {
		return ""
	}
	return fmt.Sprintf("did you mean %q?", near)
}
