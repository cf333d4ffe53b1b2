package rules

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
)

// String returns the file in canonical form: one statement per line, no comments.
func (f *File) String() string {
	var b strings.Builder
	for _, s := range f.Statements {
		b.WriteString(s.String())
		b.WriteByte('\n')
	}
	return b.String()
}

func (s *Require) String() string {
	once := ""
	if s.Once {
		once = " once"
	}
	return s.frame(fmt.Sprintf("require %s before %s%s", s.First, s.Before, once))
}

func (s *Approve) String() string {
	via := ""
	if s.Via != "" {
		via = " via " + s.Via
	}
	return s.frame(fmt.Sprintf("require human-approval%s before %s", via, s.Before))
}

func (s *Block) String() string { return s.frame(fmt.Sprintf("block %s", s.Tool)) }

func (s *Limit) String() string {
	return s.frame(fmt.Sprintf("limit %s to %d per %s", s.Tool, s.Count, s.scope()))
}

// frame adds shadow and unless to the text of a rule.
func (r *Rule) frame(text string) string {
	if r.Shadow {
		text = "shadow " + text
	}
	if len(r.Unless) > 0 {
		text += " unless " + joinNames(r.Unless)
	}
	return text
}

// joinNames writes names as a list in which a comma ends a bare name.
func joinNames(names []Name) string {
	texts := make([]string, len(names))
	for i, n := range names {
		texts[i] = n.String()
	}
	return strings.Join(texts, ", ")
}

func (s *Map) String() string {
	if s.Pattern.Kind == When {
		return fmt.Sprintf("map %s %s as %s", s.Tool, s.Pattern, s.As)
	}
	return fmt.Sprintf("map %s.%s %s as %s", s.Tool, s.Field, s.Pattern, s.As)
}

func (s *Example) String() string {
	target, not := fmt.Sprintf("%s %s", s.Tool, s.Value), ""
	if s.Field != "" {
		target = fmt.Sprintf("%s.%s %s", s.Tool, s.Field, quote(s.Value))
	}
	if s.Not {
		not = "not "
	}
	return fmt.Sprintf("example %s %sas %s", target, not, s.As)
}

// scope returns the words after "per".
func (s *Limit) scope() string {
	switch {
	case s.Per == nil:
		return s.Over.String()
	case s.Successful:
		return "successful " + s.Per.String()
	default:
		return s.Per.String()
	}
}

// String returns the name as a statement writes it, quoted if it was quoted.
func (n Name) String() string {
	if !n.Quoted {
		return n.Text
	}
	return quote(n.Text)
}

// quote writes a JSON string. It also escapes characters that a rules file must not
// contain, and invisible ones.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case isInvisible(r):
			for _, unit := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(&b, `\u%04x`, unit)
			}
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// String returns the pattern as a map writes it.
func (p Pattern) String() string {
	switch {
	case p.Kind == Runs:
		return "runs " + p.Text
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

// joinWords writes the words of a command, quoted if necessary.
func joinWords(words []string) string {
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = w
		special := func(r rune) bool { return r == '"' || r == '#' || isSeparator(r) || unicode.IsControl(r) }
		if w == "as" || strings.ContainsFunc(w, special) {
			texts[i] = quote(w)
		}
	}
	return strings.Join(texts, " ")
}
