package rules

import (
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/gate/toolnet"
)

// A File is one parsed rules file. It holds every statement that could be
// read, in order, also where other lines are in error.
type File struct {
	Name       string
	Statements []Statement
	Base       bool // other files are there to narrow it: a lower limit in one of them is no mistake

	source map[Statement]*scanner // their lines, for excerpts
	errs   ErrorList
}

// A Statement is a [*Require], [*Approve], [*Block], [*Limit], [*Allow], [*Map],
// [*Success], [*Example] or [*Prove]. Its String is the canonical form, which parses to an
// equal statement.
type Statement interface {
	String() string
	Position() gate.Position
	names() []Name // the names of calls that it uses
}

// A Rule has the fields that all statements that compile to a net share.
type Rule struct {
	Pos     gate.Position
	Shadow  bool   // it refuses nothing, and records the refusals that it would have made
	Unless  []Name // calls that certainly have one of these names are exempt
	Because string // the author's words for who reads a refusal; may be empty
}

// Require is "require A, B before C, D": each of C and D needs a success of each
// of A and B. With Or, "require A or B before C", a success of one of them is enough.
type Require struct {
	Rule
	First  []Name
	Or     bool
	Before []Name
	Once   bool       // one success is enough for all calls of Before, until a call of Since
	Since  []Name     // a call of one of these takes the success away
	Key    []KeyField // the rule stands once for each value of these fields
}

// Approve is "require human-approval before B", or "require 2 human-approvals via
// CHANNEL before B after A until C".
type Approve struct {
	Rule
	Persons      int    // how many different persons must approve; at least 1
	Via          string // the channel by which they are asked; empty: any
	Before       []Name
	After, Until []Name // see [Block]
}

// Block is "block A", or "block B after A until C": from a call of A, until a
// success of C.
type Block struct {
	Rule
	Tools        []Name
	After, Until []Name // empty: from the start, and to the end of the session
}

// Limit is "limit A, B to N" in a span, for all of them together. With Of it limits
// the sum of a field, not the number of calls.
type Limit struct {
	Rule
	Tools      []Name
	Count      int
	Of         *Field
	Over       Span
	PerUser    bool  // with a span of time: "per user per day"
	Per        *Name // the call that gives one back; nil: no call does
	Successful bool  // only successful calls of Per do
	Key        []KeyField
}

// Allow is "allow A, B": calls that pass where the default is to deny.
type Allow struct {
	Pos     gate.Position
	Tools   []Name
	Because string // the author's words
}

// Map is "map T, U.F pattern as N", or "map T, U when "CEL" as N".
type Map struct {
	Pos     gate.Position
	Tools   []Name
	Field   string // one flat key of the arguments, or a path; empty with When
	Pattern Pattern
	As      Name

	whole *Map // of which this is the part for one tool; nil: it is the whole statement
}

// Example is "example T, U.F "text" as N", or "not as N": calls of T and U, and a name
// that the maps must give them or must not give them.
type Example struct {
	Pos   gate.Position
	Tools []Name
	Field string // one flat key of the arguments; empty: Value is all of them
	Value string // the text of the field, or a JSON object
	Not   bool   // the call must not get the name
	As    Name

	line  *scanner
	value token // in the line
}

// A Name is a name of calls as a statement writes it.
type Name struct {
	Pos    gate.Position
	Text   string // without the quotes
	Quoted bool   // it is literal: not a glob, an action or a keyword

	span span
}

// Excerpt returns the source line with carets below the name, or "" for a name
// that was not parsed.
func (n Name) Excerpt() string { return n.span.excerpt() }

// Glob reports whether the name is a pattern over the names of a call.
func (n Name) Glob() bool { return !n.Quoted && strings.ContainsAny(n.Text, "*?") }

// Matches reports whether n names calls with this name.
func (n Name) Matches(name string) bool {
	if n.Glob() {
		return toolnet.MatchGlob(n.Text, name)
	}
	return n.Text == name
}

// same reports whether two names are spelled alike.
func (n Name) same(m Name) bool { return n.Text == m.Text && n.Quoted == m.Quoted }

// Position returns the start of the statement.
func (r *Rule) Position() gate.Position { return r.Pos }

// tool returns the tool of a map for one tool.
func (s *Map) tool() Name { return s.Tools[0] }

// each returns a map for each tool.
func (s *Map) each() []*Map {
	if len(s.Tools) == 1 {
		return []*Map{s}
	}
	var all []*Map
	for i := range s.Tools {
		one := *s
		one.Tools, one.whole = s.Tools[i:i+1:i+1], s
		all = append(all, &one)
	}
	return all
}

// statement returns the statement that the map is, or that it is a part of.
func (s *Map) statement() *Map {
	if s.whole != nil {
		return s.whole
	}
	return s
}

// Position returns the start of the statement.
func (s *Map) Position() gate.Position { return s.Pos }

// Position returns the start of the statement.
func (s *Example) Position() gate.Position { return s.Pos }

// Position returns the start of the statement.
func (s *Allow) Position() gate.Position { return s.Pos }

func (s *Require) names() []Name { return slices.Concat(s.First, s.Before, s.Since, s.Unless) }
func (s *Approve) names() []Name { return slices.Concat(s.Before, s.After, s.Until, s.Unless) }
func (s *Block) names() []Name   { return slices.Concat(s.Tools, s.After, s.Until, s.Unless) }
func (s *Allow) names() []Name   { return s.Tools }
func (s *Map) names() []Name     { return nil }
func (s *Example) names() []Name { return nil }

func (s *Limit) names() []Name {
	names := slices.Clone(s.Tools)
	if s.Per != nil {
		names = append(names, *s.Per)
	}
	return append(names, s.Unless...)
}

// Names lists the names of calls in the rules and claims of f, in order, without
// the tools and labels of its maps.
func (f *File) Names() []Name {
	var names []Name
	for _, s := range f.Statements {
		names = append(names, s.names()...)
	}
	return names
}

// Tools lists the tools whose arguments the maps of f read, in order, and then those of
// which it says when they succeed.
func (f *File) Tools() []Name {
	var names []Name
	for _, m := range of[*Map](f.Statements) {
		names = append(names, m.Tools...)
	}
	for _, s := range of[*Success](f.Statements) {
		names = append(names, s.Tools...)
	}
	return names
}

// Labels lists the names that the maps of f give, in order.
func (f *File) Labels() []string {
	var labels []string
	for _, m := range of[*Map](f.Statements) {
		labels = append(labels, m.As.Text)
	}
	return labels
}
