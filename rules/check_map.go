package rules

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// checkMaps checks each map statement and compares it with the others for the same field.
func (c *compiler) checkMaps() {
	used := c.usedLabels()
	scripts := c.scripts()
	for _, m := range statementsOf[*Map](c.statements) {
		if !used[m.As.Text] {
			c.warnName(m.As, UnusedLabel, "", "no rule uses the name %s", m.As)
		}
		if m.As.Glob() {
			c.warnName(m.As, LabelLikeGlob, "", "a rule reads %s as a pattern", m.As)
		}
		switch m.Pattern.Kind {
		case Word:
			if !m.checkKeyword(&c.report) {
				m.checkWord(&c.report, scripts.find(m))
			}
		case Runs:
			m.checkProgram(&c.report)
			m.checkExactly(&c.report)
			m.checkStar(&c.report)
		case Regex:
			m.checkRegex(&c.report, scripts.find(m) != nil || m.isCommand())
		}
	}
}

// usedLabels returns the names that map statements give to calls and that rules, allow statements
// or claims use.
func (c *compiler) usedLabels() map[string]bool {
	used, seen := make(map[string]bool), make(map[string]bool)
	for _, s := range c.statements {
		for _, n := range s.names() {
			if key := n.String(); !seen[key] {
				seen[key] = true
				c.labels.words.forEachMatch(n, func(label string) { used[label] = true })
			}
		}
	}
	return used
}

// scripts maps a tool and a field, as in [Map.target], to the first map statement that reads the
// field as a shell script.
type scripts map[string]*Map

// find returns a map statement that reads the field of m as a script, for any of the tools of m. It
// returns nil if it finds no such statement.
func (s scripts) find(m *Map) *Map {
	for _, one := range m.split() {
		if script := s[one.target()]; script != nil {
			return script
		}
	}
	return nil
}

func (c *compiler) scripts() scripts {
	first := make(scripts)
	for _, m := range c.maps {
		if m.Pattern.Kind.readsScript() && first[m.target()] == nil {
			first[m.target()] = m
		}
	}
	return first
}

// target returns a key that identifies the tool and the field that m reads. m must have a single
// tool.
func (m *Map) target() string { return m.tool().Text + "\x00" + m.Field }

// checkWord warns about a word that resembles a regex. It also warns about a word in a field that
// another map statement reads as a script, because the word might be a command. The last argument
// is that other statement, or nil.
func (m *Map) checkWord(r *report, script *Map) {
	p := m.Pattern
	switch {
	case strings.ContainsAny(p.Text, `^$*+?()[]{}|\`):
		r.warnPattern(m, WordLikeRegex, "write a regex between slashes: /regex/", "the word %s is searched for literally", p.Text)
	case script != nil && isWordByte(p.Text, 0) && !strings.Contains(p.Text, "/"):
		r.warnPattern(m, TextOfScript, "if it is a command, write: runs "+p.Text,
			"%s is searched for in the text of %s.%s, which the map at %s reads as a script", p.Text, script.tool(), m.Field, script.Pos)
	}
}

// keywordForms holds the correct form of a pattern for each keyword, as shown in hints.
var keywordForms = map[string]string{
	"runs": "runs COMMAND", "reads": "reads FILES", "writes": "writes FILES", "exactly": "runs exactly COMMAND", "when": `map TOOL when "EXPRESSION" as NAME`,
}

// checkKeyword warns if a pattern consists only of a keyword, because the map statement then looks
// for the keyword as a word. It reports whether it has warned.
func (m *Map) checkKeyword(r *report) bool {
	p := m.Pattern
	form, ok := keywordForms[p.Text]
	if ok {
		r.warnPattern(m, KeywordAsWord, fmt.Sprintf(`write: %s; for the word, write: /\b%s\b/`, form, p.Text), "the map looks for the word %s in %s.%s", p.Text, joinNames(m.Tools), m.Field)
	}
	return ok
}

// checkExactly warns if "runs" is followed only by "exactly", because the map statement then looks
// for a program with that name.
func (m *Map) checkExactly(r *report) {
	if p := m.Pattern; p.Text == "exactly" && !p.Exactly {
		r.warnPattern(m, KeywordAsWord, "write: runs exactly COMMAND", "the map looks for a program called exactly")
	}
}

// checkProgram rejects a program name that contains a space, because it is probably a whole command
// in one pair of quotes.
func (m *Map) checkProgram(r *report) {
	if program := m.Pattern.Words[0]; strings.ContainsAny(program, " \t") && !strings.ContainsAny(program, `/\`) {
		p := m.Pattern
		r.fail(m, p.line.errorAt(BadCommand, p.argument, "do not quote several words together; write: runs "+strings.Join(strings.Fields(program), " "), "no program is called %s", quote(program)))
	}
}

// checkStar warns about a * between the words of a command, because other arguments are allowed
// there even without it.
func (m *Map) checkStar(r *report) {
	if words := m.Pattern.Words; slices.Index(m.Pattern.command(), "*") > 0 {
		i := slices.Index(words, "*")
		r.warnPattern(m, IdleStar, "write: runs "+joinWords(slices.Concat(words[:i], words[i+1:])), "* between the words of a command has no effect: other arguments are allowed there anyway")
	}
}

// looseDot matches a regex with a dot that looks like a literal dot but matches any character.
var looseDot = regexp.MustCompile(`^(?:[^\\\[]|\\.|\[[^\]]*\])*?\w\.\w`)

// checkRegex warns if the regex matches all text, or contains a dot that looks like a literal dot.
// If command is true, the field contains commands. In this case, checkRegex also warns if the regex
// finds a command only at the start or end of the text.
func (m *Map) checkRegex(r *report, command bool) {
	p := m.Pattern
	bare, escaped := strings.CutSuffix(p.Text, "$")
	switch {
	case p.Match(""):
		r.warnPattern(m, MatchesAll, "", "the regex matches the empty text, and so every call to %s with the field %s", joinNames(m.Tools), m.Field)
	case command && strings.HasPrefix(p.Text, "^"):
		r.warnPattern(m, Anchored, `write \b in place of ^, or use runs`, "the regex matches a command only at the start of the text, not in: cd /tmp; ...")
	case command && escaped && !endsInEscape(bare):
		r.warnPattern(m, Anchored, `write \b in place of $, or use runs`, "the regex matches a command only at the end of the text, not in: ... ; true")
	case looseDot.MatchString(p.Text):
		r.warnPattern(m, AnyCharacter, `write \. for a dot`, "a dot in %s matches any character", p)
	}
}

// endsInEscape reports whether expr escapes the character that follows it.
func endsInEscape(expr string) bool {
	return (len(expr)-len(strings.TrimRight(expr, `\`)))%2 == 1
}

func (r *report) warnPattern(m *Map, code Code, hint, format string, args ...any) {
	p := m.Pattern
	r.warnAt(p.Pos, p.line.span(p.written.off, p.written.end), code, hint, format, args...)
}
