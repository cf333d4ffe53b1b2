package rules

import (
	"regexp"
	"slices"
	"strings"
)

var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// reserved are bare words that a statement can read as something other than the name of a call.
var reserved = []string{
	"or", "before", "once", "since", "for", "with", "unless", "human-approval", "human-approvals", "via", "after", "until", "to", "per", "at", "in",
	"of", "as", "because", "session", "user", "successful", "not", "without", "while", "runs", "when",
}

// Written returns the name of a tool in the notation of statements. It is in quotes if the bare
// word would be read as a glob, an action, a keyword or several words.
func Written(name string) string {
	quoted := !plainName.MatchString(name) || slices.Contains(reserved, strings.ToLower(name))
	return Name{Text: name, Quoted: quoted}.String()
}
