package rules

import (
	"regexp"
	"slices"
	"strings"
)

var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// reserved are bare words that a statement can read as something other than a call name.
var reserved = []string{
	"or", "before", "once", "since", "for", "with", "unless", "human-approval", "human-approvals", "via", "after", "until", "to", "per", "at", "in",
	"of", "as", "because", "session", "user", "successful", "not", "without", "while", "runs", "when",
}

// Written returns a tool's name as written in statements. It is quoted if the bare word would be
// read as a glob, an action, a keyword or several words.
func Written(name string) string {
	quoted := !plainName.MatchString(name) || slices.Contains(reserved, strings.ToLower(name))
	return Name{Text: name, Quoted: quoted}.String()
}
