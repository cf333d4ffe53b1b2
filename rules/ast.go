package rules

import (
	"strings"

	"github.com/petrigate/petrigate/gate"
)

// A File is one parsed rules file. It holds every statement that could be
// read, in order, also where other lines are in error.
type File struct {
	Name       string
	Statements []Statement

	source map[Statement]*scanner // their lines, for excerpts
	errs   ErrorList
}

// A Statement is a [*Require], [*Approve], [*Block], [*Limit], [*Map],
// [*Example] or [*Prove]. Its String is the canonical form, which parses to an
// equal statement.
type Statement interface {
	String() string
	Position() gate.Position
	names() []Name // the names of calls that it uses
}

// A Rule has the fields that all statements that compile to a net share.
type Rule struct {
	Pos    gate.Position
	Shadow bool   // it records what it would have refused, and refuses nothing
	Unless []Name // calls that certainly have one of these names are exempt
}

// Require is "require A before B", or "require A before B once".
type Require struct {
	Rule
	First, Before Name
	Once          bool // one success of First is enough for all calls of Before
}

// Approve is "require human-approval before B", or "via CHANNEL before B".
type Approve struct {
	Rule
	Via    string // the channel by which the person is asked; empty: any
	Before Name
}

// Block is "block A".
type Block struct {
	Rule
	Tool Name
}

// Limit is "limit A to N per" something.
type Limit struct {
	Rule
	Tool       Name
	Count      int
	Over       Span
	Per        *Name // the call that gives one back; nil: no call does
	Successful bool  // only successful calls of Per do
}

// Span is the span of sessions or time of a limit that no call refills.
type Span uint8

// The spans.
const (
	Session Span = iota // per session
	User                // per user: all sessions of a principal
	Second              // per second, and so on: calls come back with time
	Minute
	Hour
	Day
)

// Map is "map T.F pattern as N", or "map T when "CEL" as N".
type Map struct {
	Pos     gate.Position
	Tool    Name
	Field   string // one flat key of the arguments, or a path; empty with When
	Pattern Pattern
	As      Name
}

// Example is "example T.F "text" as N", or "not as N": a call of T, and a name
// that the maps must give it or must not give it.
type Example struct {
	Pos   gate.Position
	Tool  Name
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
		return gate.MatchGlob(n.Text, name)
	}
	return n.Text == name
}

// same reports whether two names are spelled alike.
func (n Name) same(m Name) bool { return n.Text == m.Text && n.Quoted == m.Quoted }

// Position returns the start of the statement.
func (r *Rule) Position() gate.Position { return r.Pos }

// Position returns the start of the statement.
func (s *Map) Position() gate.Position { return s.Pos }

// Position returns the start of the statement.
func (s *Example) Position() gate.Position { return s.Pos }

func (s *Require) names() []Name { return append([]Name{s.First, s.Before}, s.Unless...) }
func (s *Approve) names() []Name { return append([]Name{s.Before}, s.Unless...) }
func (s *Block) names() []Name   { return append([]Name{s.Tool}, s.Unless...) }
func (s *Map) names() []Name     { return nil }
func (s *Example) names() []Name { return nil }

func (s *Limit) names() []Name {
	names := []Name{s.Tool}
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

// Tools lists the tools whose arguments the maps of f read, in order.
func (f *File) Tools() []Name {
	var names []Name
	for _, m := range of[*Map](f.Statements) {
		names = append(names, m.Tool)
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
