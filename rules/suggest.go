package rules

import "github.com/petrigate/petrigate/gate"

// Nearest is [gate.Nearest].
func Nearest(word string, among []string) string { return gate.Nearest(word, among) }
