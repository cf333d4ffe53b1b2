package config

import (
	"slices"
	"strings"
)

// A RuleText is the text of rules in a rules file or in the configuration itself.
type RuleText struct {
	File string // file name for messages
	Text string

	// The following fields locate Text in a configuration file. In a YAML block, each line of Text
	// is assumed to be a line of the file. This is not always true for a block that begins with >.
	// In any other string, only positions in the first line are exact.
	inline       bool
	block        bool
	line, column int
}

// Position converts a line and column in Text to a position in File.
func (r RuleText) Position(line, column int) Position {
	switch {
	case !r.inline || line == 0:
		return Position{File: r.File, Line: line, Column: column}
	case r.block:
		return Position{File: r.File, Line: r.line + line - 1, Column: r.column + column - 1}
	case line == 1:
		return Position{File: r.File, Line: r.line, Column: r.column + column - 1}
	default:
		return Position{File: r.File, Line: r.line, Column: r.column}
	}
}

func readRules(v Value) (texts []RuleText, ok bool) {
	switch {
	case v.kind == textKind && strings.HasSuffix(v.text, ".rules") && !strings.ContainsAny(v.text, " \n"):
		v.Fault(`"rules" needs the text of rules, but this is the name of a file`, `write rules: [{ file: "..." }]`)
		return nil, false
	case v.kind == textKind:
		return readInlineRules(v)
	case v.kind == mapKind:
		v.Fault(`"rules" must be a list or one text, not a mapping`, `begin the entry with "- "`)
		return nil, false
	}
	entries, ok := nonEmpty(listOf(readRuleEntry))(v)
	return slices.Concat(entries...), ok
}

func readRuleEntry(v Value) (texts []RuleText, ok bool) {
	if v.kind == textKind {
		v.Fault(`an entry of "rules" must be a mapping, not text`, `write "file: ..." or "inline: ..."`)
		return nil, false
	}
	v.named(v.label()).Fields(Keys{
		"file": func(v Value) {
			texts = append(texts, readFiles(v)...)
		},
		"inline": func(v Value) {
			if v.hasKind(textKind) {
				texts, _ = readInlineRules(v)
			}
		},
	})
	if v.kind == mapKind && len(v.fields) != 1 {
		v.Fault(`an entry of "rules" must have one key, "file" or "inline"`, "")
	}
	return texts, true
}

func readInlineRules(v Value) ([]RuleText, bool) {
	if strings.TrimSpace(v.text) == "" {
		v.Fault("the rules are empty", "")
		return nil, false
	}
	return []RuleText{readRuleText(v)}, true
}

// readRuleText returns the text of a value with its position.
func readRuleText(v Value) RuleText {
	r := RuleText{File: v.name, Text: v.text, inline: true, line: v.line, column: v.column}
	if v.block {
		r.line, r.column, r.block = v.line+1, v.indent(), true
	} else if rest := []rune(v.lines[v.line-1]); v.column <= len(rest) && strings.ContainsRune(`"'`, rest[v.column-1]) {
		r.column++
	}
	return r
}

// indent returns the column where the lines of a block begin.
func (v Value) indent() int {
	for i, text := range strings.Split(v.text, "\n") {
		at := v.line + i
		if text == "" || at >= len(v.lines) {
			continue
		}
		if before, ok := strings.CutSuffix(v.lines[at], text); ok {
			return len(before) + 1
		}
	}
	return 1
}

// ReadRules reads the rules files that match a pattern. The pattern has the syntax of the key
// "file" in a configuration. A relative pattern is relative to the working directory.
func ReadRules(pattern string) ([]RuleText, error) {
	texts, faults := (&environment{}).match(pattern)
	if len(faults) > 0 {
		return nil, faults
	}
	return texts, nil
}
