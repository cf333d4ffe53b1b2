package rules

import (
	"fmt"
	"hash/fnv"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/gate/toolnet"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/text"
)

// A Name is a call name as written in a statement.
type Name struct {
	Pos    gate.Position
	Text   string // the name without quotes
	Quoted bool   // whether the name is literal: not a glob, an action or a keyword

	span span
}

// Excerpt returns the source line with carets below the name, or "" for a name that was not parsed.
func (n Name) Excerpt() string { return n.span.excerpt() }

// Glob reports whether the name is a glob pattern.
func (n Name) Glob() bool { return !n.Quoted && strings.ContainsAny(n.Text, "*?") }

// Matches reports whether n matches a call name.
func (n Name) Matches(name string) bool {
	if n.Glob() {
		return toolnet.MatchGlob(n.Text, name)
	}
	return n.Text == name
}

// same reports whether n and other are written in the same way.
func (n Name) same(m Name) bool { return n.Text == m.Text && n.Quoted == m.Quoted }

// String returns the name as written in statements, in quotes if it was quoted.
func (n Name) String() string {
	if !n.Quoted {
		return n.Text
	}
	return quote(n.Text)
}

// netForm returns the name as used in the names of nets and transitions: without quotes if
// possible.
func (n Name) netForm() string {
	for _, r := range n.Text {
		if isSeparator(r) || !unicode.IsPrint(r) || r == '"' || r == '#' {
			return n.String()
		}
	}
	return n.Text
}

// Call returns a [gate.Tool] that matches the calls with the name n.
func (n Name) Call() gate.Tool {
	t := gate.Tool{Name: n.Text}
	switch {
	case n.Quoted:
		t.Kind = gate.Literal
	case n.Glob():
		t.Kind = gate.Glob
	}
	return t
}

// joinNames formats names separated by commas.
func joinNames(names []Name) string { return strings.Join(nameTexts(names), ", ") }

// anyOf formats names separated by "or".
func anyOf(names []Name) string { return strings.Join(nameTexts(names), " or ") }

// nameTexts returns the names as written in statements.
func nameTexts(names []Name) []string { return list.Map(names, Name.String) }

// maxListed is the maximum number of names listed in a net name.
const maxListed = 2

// joinNetForms joins names for the name of a net or transition. It shortens a long list to the
// first name, the number of other names, and a hash, so that different lists have different names.
func joinNetForms(names []Name, word string) string {
	forms := list.Map(names, Name.netForm)
	whole := strings.Join(forms, "-"+word+"-")
	if len(names) <= maxListed {
		return whole
	}
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(whole)) // writing to a hash never fails
	return fmt.Sprintf("%s-%s-%d-more-%04x", forms[0], word, len(names)-1, sum.Sum32()&0xffff)
}

// shortList joins names for a sentence in a refusal. For more than three names, it lists only the
// first two and the number of others; the refusal refers to the rule's line, which lists all names.
func shortList(names []Name, last string) string {
	texts := nameTexts(names)
	if len(texts) > 3 {
		texts = append(texts[:2], fmt.Sprintf("%d more", len(names)-2))
	}
	return text.Join(texts, last)
}

// gateTools returns the [gate.Tool] for each name; see [Name.Call].
func gateTools(names []Name) []gate.Tool { return list.Map(names, Name.Call) }

var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// reserved contains the bare words that may be read as something other than a call name in a
// statement.
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
