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

	source map[Statement]string // their lines, for excerpts
	errs   ErrorList
}

// A Statement is a [*Require], [*Approve], [*Block], [*Limit], [*Map] or [*Prove].
// Its String is the canonical form, which parses to an equal statement.
type Statement interface {
	String() string
	Position() gate.Position
	names() []Name // the names of calls that it speaks of
}

// Require is "require A before B".
type Require struct {
	Pos           gate.Position
	First, Before Name
}

// Approve is "require human-approval before B".
type Approve struct {
	Pos    gate.Position
	Before Name
}

// Block is "block A".
type Block struct {
	Pos  gate.Position
	Tool Name
}

// Limit is "limit A to N per session", or "per C".
type Limit struct {
	Pos   gate.Position
	Tool  Name
	Count int
	Per   *Name // what gives a call back; nil: nothing in a session does
}

// Map is "map T.F pattern as N".
type Map struct {
	Pos     gate.Position
	Tool    Name
	Field   string // one flat key of the arguments
	Pattern Pattern
	As      Name
}

// A Name is a name of calls as a statement writes it.
type Name struct {
	Pos    gate.Position
	Text   string // without the quotes
	Quoted bool   // it stands for itself: no glob, no action, no keyword

	column int // in the text of the line
}

// Glob reports whether the name is a pattern over the names of a call.
func (n Name) Glob() bool { return !n.Quoted && strings.ContainsAny(n.Text, "*?") }

// Matches reports whether a name of a call is one that n speaks of.
func (n Name) Matches(name string) bool {
	if n.Glob() {
		return gate.MatchGlob(n.Text, name)
	}
	return n.Text == name
}

// same reports whether two names are written alike, wherever they stand.
func (n Name) same(m Name) bool { return n.Text == m.Text && n.Quoted == m.Quoted }

// Position is where the statement begins.
func (s *Require) Position() gate.Position { return s.Pos }

// Position is where the statement begins.
func (s *Approve) Position() gate.Position { return s.Pos }

// Position is where the statement begins.
func (s *Block) Position() gate.Position { return s.Pos }

// Position is where the statement begins.
func (s *Limit) Position() gate.Position { return s.Pos }

// Position is where the statement begins.
func (s *Map) Position() gate.Position { return s.Pos }

func (s *Require) names() []Name { return []Name{s.First, s.Before} }
func (s *Approve) names() []Name { return []Name{s.Before} }
func (s *Block) names() []Name   { return []Name{s.Tool} }
func (s *Map) names() []Name     { return nil }

func (s *Limit) names() []Name {
	if s.Per == nil {
		return []Name{s.Tool}
	}
	return []Name{s.Tool, *s.Per}
}

// Names lists the names of calls that the rules and claims of f speak of, in order. The
// tools and labels of maps are not among them.
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
	for _, s := range f.Statements {
		if m, ok := s.(*Map); ok {
			names = append(names, m.Tool)
		}
	}
	return names
}

// Labels lists the names that the maps of f give, in order.
func (f *File) Labels() []string {
	var labels []string
	for _, s := range f.Statements {
		if m, ok := s.(*Map); ok {
			labels = append(labels, m.As.Text)
		}
	}
	return labels
}
