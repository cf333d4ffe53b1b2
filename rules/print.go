package rules

import (
	"fmt"
	"strings"
)

// String returns the file in canonical form: one statement per line, without comments.
func (f *File) String() string {
	var b strings.Builder
	for _, s := range f.Statements {
		b.WriteString(s.String())
		b.WriteByte('\n')
	}
	return b.String()
}

func (s *Require) String() string {
	first, rest := joinNames(s.First), ""
	if s.Once {
		rest = " once"
	}
	if len(s.Since) > 0 {
		rest += " since " + joinNames(s.Since)
	}
	if s.Or {
		first = anyOf(s.First)
	}
	return s.withClauses(fmt.Sprintf("require %s before %s%s%s", first, joinNames(s.Before), rest, keyOf(s.Key)))
}

func (s *Approve) String() string {
	who := "human-approval"
	if s.Persons > 1 {
		who = fmt.Sprintf("%d human-approvals", s.Persons)
	}
	if s.Via != "" {
		who += " via " + s.Via
	}
	return s.withClauses(fmt.Sprintf("require %s before %s%s", who, joinNames(s.Before), afterOf(s.After, s.Until)))
}

func (s *Block) String() string {
	return s.withClauses(fmt.Sprintf("block %s%s", joinNames(s.Tools), afterOf(s.After, s.Until)))
}

func (s *Allow) String() string { return "allow " + joinNames(s.Tools) + becauseOf(s.Because) }

func (s *Limit) String() string {
	return s.withClauses(fmt.Sprintf("limit %s to %s%s", joinNames(s.Tools), s.amount(), keyEach(s.Key)))
}

// amount returns the words of a limit between "to" and the key, such as "3 per session".
func (s *Limit) amount() string {
	if s.Of != nil {
		return fmt.Sprintf("%d of %s %s", s.Count, s.Of, s.span())
	}
	return fmt.Sprintf("%d %s", s.Count, s.span())
}

// span returns the limit's words after the count, such as "per session".
func (s *Limit) span() string {
	switch {
	case s.Per != nil && s.Successful:
		return "per successful " + s.Per.String()
	case s.Per != nil:
		return "per " + s.Per.String()
	case s.PerUser:
		return "per user " + s.Over.String()
	}
	return s.Over.String()
}

// afterOf formats the clauses that activate and deactivate a rule.
func afterOf(after, until []Name) string {
	text := ""
	if len(after) > 0 {
		text = " after " + joinNames(after)
	}
	if len(until) > 0 {
		text += " until " + joinNames(until)
	}
	return text
}

// withClauses adds the keyword "shadow" and the clauses "unless" and "because", if present, to a
// rule's text.
func (r *Rule) withClauses(text string) string {
	if r.Shadow {
		text = "shadow " + text
	}
	if len(r.Unless) > 0 {
		text += " unless " + joinNames(r.Unless)
	}
	return text + becauseOf(r.Because)
}

// becauseOf formats the clause "because", with the author's reason.
func becauseOf(reason string) string {
	if reason == "" {
		return ""
	}
	return " because " + quote(reason)
}

func (s *Map) String() string {
	if s.Pattern.Kind == When {
		return fmt.Sprintf("map %s %s as %s", joinNames(s.Tools), s.Pattern, s.As)
	}
	return fmt.Sprintf("map %s.%s %s as %s", joinNames(s.Tools), s.Field, s.Pattern, s.As)
}

func (s *Example) String() string {
	target, not := fmt.Sprintf("%s %s", joinNames(s.Tools), s.Value), ""
	if s.Field != "" {
		target = fmt.Sprintf("%s.%s %s", joinNames(s.Tools), s.Field, quote(s.Value))
	}
	if s.Not {
		not = "not "
	}
	return fmt.Sprintf("example %s %sas %s", target, not, s.As)
}

// String returns the pattern as written in a map statement.
func (p Pattern) String() string {
	switch {
	case p.Exactly:
		return "runs exactly " + p.Text
	case p.Kind.readsScript():
		return patternWords[p.Kind] + " " + p.Text
	case p.Kind == When:
		return "when " + quote(p.Text)
	case p.Kind == Word:
		return p.Text
	case p.Fold:
		return "/" + p.Text + "/i"
	default:
		return "/" + p.Text + "/"
	}
}

func (s *Success) String() string {
	return fmt.Sprintf("success %s %s", joinNames(s.Tools), s.Condition)
}
