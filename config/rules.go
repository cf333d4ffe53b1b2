package config

import (
	"fmt"
	"strings"
)

// A RuleText is a text of rules: a file, or a part of the configuration.
type RuleText struct {
	File string // as messages name it
	Text string

	// Where the text stands in File. A block (|) keeps its lines; quoted and
	// plain text has one place only.
	inline       bool
	block        bool
	line, column int
}

// Position returns the position in File of a line and a column of Text.
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

func readRules(d *decoder, to *[]RuleText) func(key, value *node) {
	return func(key, value *node) {
		switch {
		case value.kind == textKind && strings.HasSuffix(value.text, ".rules") && !strings.ContainsAny(value.text, " \n"):
			d.at(value, `"rules" takes the text of rules, and this is the name of a file`, `write rules: [{ file: "..." }]`)
		case value.kind == textKind:
			*to = append(*to, readInlineRules(d, value)...)
		case value.kind == mapKind:
			d.at(value, `"rules" must be a list or one text, not a mapping`, `begin the entry with "- "`)
		case d.is(value, listKind, quoted(key)):
			checkNotEmpty(d, key, value)
			for _, item := range value.items {
				*to = append(*to, readRuleEntry(d, item)...)
			}
		}
	}
}

func checkNotEmpty(d *decoder, key, list *node) {
	if len(list.items) == 0 {
		d.at(list, fmt.Sprintf("%q is empty", key.text), "leave the key out")
	}
}

func readRuleEntry(d *decoder, n *node) []RuleText {
	if n.kind == textKind {
		d.at(n, `an entry of "rules" must be a mapping, not text`, `write "file: ..." or "inline: ..."`)
		return nil
	}
	var texts []RuleText
	d.mapping(n, `an entry of "rules"`, keys{
		"file": func(key, value *node) {
			for _, f := range readFiles(d, key, value) {
				texts = append(texts, RuleText{File: f.name, Text: f.text})
			}
		},
		"inline": func(key, value *node) {
			if d.is(value, textKind, quoted(key)) {
				texts = append(texts, readInlineRules(d, value)...)
			}
		},
	})
	if n.kind == mapKind && len(n.fields) != 1 {
		d.at(n, `an entry of "rules" has one key, "file" or "inline"`, "")
	}
	return texts
}

func readInlineRules(d *decoder, n *node) []RuleText {
	if strings.TrimSpace(n.text) == "" {
		d.at(n, "the rules are empty", "")
		return nil
	}
	return []RuleText{readRuleText(d, n)}
}

// readRuleText returns a text with its position.
func readRuleText(d *decoder, n *node) RuleText {
	r := RuleText{File: d.name, Text: n.text, inline: true, line: n.line, column: n.column}
	if n.block {
		r.line, r.column, r.block = n.line+1, indentOf(d, n), true
	} else if rest := []rune(d.lines[n.line-1]); n.column <= len(rest) && strings.ContainsRune(`"'`, rest[n.column-1]) {
		r.column++
	}
	return r
}

// indentOf returns the column at which the lines of a block start.
func indentOf(d *decoder, n *node) int {
	for i, text := range strings.Split(n.text, "\n") {
		at := n.line + i
		if text == "" || at >= len(d.lines) {
			continue
		}
		if before, ok := strings.CutSuffix(d.lines[at], text); ok {
			return len(before) + 1
		}
	}
	return 1
}

// ReadRules reads the rules files that a pattern matches, as the "file" key
// does; relative paths start at the directory of the process.
func ReadRules(pattern string) ([]RuleText, error) {
	files, faults := (&environment{}).match(pattern)
	if len(faults) > 0 {
		return nil, withoutPlace(faults)
	}
	texts := make([]RuleText, len(files))
	for i, f := range files {
		texts[i] = RuleText{File: f.name, Text: f.text}
	}
	return texts, nil
}
