package rules

import (
	"slices"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/gate/toolnet"
	"github.com/petrigate/petrigate/internal/list"
)

// A File is a parsed rules file. It contains all valid statements in order, even if other lines
// have errors.
type File struct {
	Name       string
	Statements []Statement
	Base       bool // whether the file is a base policy, whose limits other files may lower without a warning

	source map[Statement]*scanner // source line of each statement, for excerpts
	errs   ErrorList
}

// A Statement is a [*Require], [*Approve], [*Block], [*Limit], [*Allow], [*Map], [*Success],
// [*Example] or [*Prove]. Its String method returns the canonical form; parsing that form yields an
// equal statement.
type Statement interface {
	String() string
	Position() gate.Position
	names() []Name // call names that the statement uses
}

// A Rule holds the fields that [Require], [Approve], [Block] and [Limit] have in common.
type Rule struct {
	Pos     gate.Position
	Shadow  bool   // whether the rule only records refusals, without refusing calls
	Unless  []Name // names whose calls are exempt from the rule; a call is exempt only if it certainly has one of these names
	Because string // the author's reason, shown in refusals; may be empty
}

// Require is "require A, B before C, D": each call to C or D requires a successful call to A and a
// successful call to B. With Or, as in "require A or B before C", a successful call to A or B is
// enough.
type Require struct {
	Rule
	First  []Name
	Or     bool
	Before []Name
	Once   bool       // whether one successful call allows all calls to Before, until a call to Since
	Since  []Name     // after any of these calls, the required call must succeed again
	Key    []KeyField // if set, the rule applies separately to each value of these fields
}

// Approve is "require human-approval before B", or "require 2 human-approvals via CHANNEL before B
// after A until C".
type Approve struct {
	Rule
	Persons      int    // number of different people who must approve; at least 1
	Via          string // channel for asking these people; empty means any
	Before       []Name
	After, Until []Name // the period when the rule applies, as in [Block]
}

// Block is "block A" or "block B after A until C". In the second form, B is blocked from a call to
// A until a call to C succeeds.
type Block struct {
	Rule
	Tools        []Name
	After, Until []Name // calls that start the rule, and calls that end it when they succeed; if empty, the rule starts or ends with the session
}

// Limit is "limit A, B to N" followed by a span. The limit is shared by all names. If Of is set, it
// limits the sum of a field instead of the number of calls.
type Limit struct {
	Rule
	Tools      []Name
	Count      int
	Of         *Field
	Over       Span
	PerUser    bool  // whether the limit counts per user over a time span, as in "per user per day"; Over is then the time span
	Per        *Name // call that refills the budget by one; may be nil
	Successful bool  // whether only successful calls to Per refill the budget
	Key        []KeyField
}

// Allow is "allow A, B". These calls pass even if the policy denies calls by default.
type Allow struct {
	Pos     gate.Position
	Tools   []Name
	Because string // the author's reason; may be empty
}

// Map is "map T, U.F pattern as N", or "map T, U when "CEL" as N".
type Map struct {
	Pos     gate.Position
	Tools   []Name
	Field   string // argument key, or a path; empty if Pattern is of kind [When]
	Pattern Pattern
	As      Name

	whole *Map // the original statement if this one was created by split; nil otherwise
}

// Example is "example T, U.F "text" as N" or "example T, U.F "text" not as N". The first form
// states that the map statements give the name N to calls to T and U with this text in the field F.
// The second form states that they do not give it. Instead of a field and its text, a statement can
// give all arguments as a JSON object.
type Example struct {
	Pos   gate.Position
	Tools []Name
	Field string // argument key; if empty, Value holds all arguments
	Value string // text in the field or, if Field is empty, a JSON object
	Not   bool   // set for "not as": the call must not get the name
	As    Name

	line  *scanner
	value token // position of Value in the source line
}

// Position returns the start of the statement.
func (r *Rule) Position() gate.Position { return r.Pos }

// tool returns the statement's tool. The statement must have a single tool; see [Map.split].
func (s *Map) tool() Name { return s.Tools[0] }

// split divides the statement into statements that have a single tool each.
func (s *Map) split() []*Map {
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

// statement returns the original of a statement created by split, or s itself.
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

// Names returns the call names in the file's rules, allow statements and claims ([Prove]
// statements), in order. It leaves out the names in map, example and success statements.
func (f *File) Names() []Name { return list.FlatMap(f.Statements, Statement.names) }

// Tools returns the tools named in the file's map statements, in order, followed by those in its
// success statements.
func (f *File) Tools() []Name {
	names := list.FlatMap(statementsOf[*Map](f.Statements), func(m *Map) []Name { return m.Tools })
	return append(names, list.FlatMap(statementsOf[*Success](f.Statements), func(s *Success) []Name { return s.Tools })...)
}

// Labels returns the names that the file's map statements give to calls, in order.
func (f *File) Labels() []string {
	return list.Map(statementsOf[*Map](f.Statements), func(m *Map) string { return m.As.Text })
}

// statementsOf returns the statements of the given type.
func statementsOf[T Statement](all []Statement) (ts []T) {
	for _, s := range all {
		if t, ok := s.(T); ok {
			ts = append(ts, t)
		}
	}
	return ts
}

// Success is "success A, B when "CEL"". A call to A or B has failed if its result does not meet the
// condition.
type Success struct {
	Pos       gate.Position
	Tools     []Name
	Condition Pattern // condition that the result must meet; its Kind is [When]
}

// Position returns the start of the statement.
func (s *Success) Position() gate.Position { return s.Pos }

func (s *Success) names() []Name { return nil }

// provesEffect reports whether a match of the map statement can prove that the call performs the
// named action. Only a statement with "runs" can prove it, and only if its field selects a single
// script.
func (s *Map) provesEffect() bool { return s.Pattern.Kind == Runs && !s.readsSeveral() }

// exempts reports whether the map statement can give its name to a call with certainty. Only then
// can the name exempt calls from rules. The statement must look for a command in a single script,
// or use an expression.
func (s *Map) exempts() bool { return s.provesEffect() || s.Pattern.Kind == When }

// readsSeveral reports whether the field of the map statement is a path that can select several
// values, such as $.files[*].path. If so, a match does not prove that the call performs the named
// action.
func (s *Map) readsSeveral() bool {
	if !isPath(s.Field) {
		return false
	}
	p, err := toolnet.ParsePath(s.Field)
	return err == nil && p.Many()
}
