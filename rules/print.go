package rules

import (
	"fmt"
	"strings"
	"unicode"
)

// String is the file in canonical form: one statement a line, no comments.
func (f *File) String() string {
	var b strings.Builder
	for _, s := range f.Statements {
		b.WriteString(s.String())
		b.WriteByte('\n')
	}
	return b.String()
}

func (s *Require) String() string { return fmt.Sprintf("require %s before %s", s.First, s.Before) }
func (s *Approve) String() string { return fmt.Sprintf("require human-approval before %s", s.Before) }
func (s *Block) String() string   { return fmt.Sprintf("block %s", s.Tool) }
func (s *Limit) String() string {
	return fmt.Sprintf("limit %s to %d per %s", s.Tool, s.Count, s.scope())
}

func (s *Map) String() string {
	return fmt.Sprintf("map %s.%s %s as %s", s.Tool, s.Field, s.Pattern, s.As)
}

// scope is the last word of the statement.
func (s *Limit) scope() string {
	if s.Per == nil {
		return "session"
	}
	return s.Per.String()
}

// String is the name as a statement writes it, in quotes where it was quoted.
func (n Name) String() string {
	if !n.Quoted {
		return n.Text
	}
	return quote(n.Text)
}

// quote writes a JSON string. It escapes what a rules file may not hold, which
// is more than JSON asks for, and nothing else.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case unicode.IsControl(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// String is the pattern as a map writes it.
func (p Pattern) String() string {
	switch {
	case !p.Regex:
		return p.Text
	case p.Fold:
		return "/" + p.Text + "/i"
	default:
		return "/" + p.Text + "/"
	}
}
