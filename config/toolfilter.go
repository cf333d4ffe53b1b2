package config

import (
	"fmt"
	"strings"
	"unicode"
)

// A ToolFilter selects the tools of a server by patterns over its own names. Deny
// overrides Allow; without Allow, all tools are allowed.
type ToolFilter struct {
	Allow []string
	Deny  []string
}

func readToolFilter(d *decoder, to *ToolFilter) func(key, value *node) {
	return func(key, value *node) {
		d.mapping(value, quoted(key), keys{"allow": readToolPatterns(d, &to.Allow), "deny": readToolPatterns(d, &to.Deny)})
		if value.kind == mapKind && len(value.fields) == 0 {
			d.at(key, fmt.Sprintf("%s is empty", quoted(key)), "write allow or deny, or leave it out")
		}
		if allow := value.get("allow"); allow != nil && allow.kind == listKind && len(allow.items) == 0 {
			d.at(allow, `"allow" is empty: no tool could be called`, `"disabled: true" turns a server off`)
		}
	}
}

func readToolPatterns(d *decoder, to *[]string) func(key, value *node) {
	return func(key, value *node) {
		*to = []string{}
		d.items(key, value, func(item *node) {
			before := len(d.errs)
			text := d.interpolated(item)
			if len(d.errs) > before {
				return
			}
			if msg, hint := checkToolPattern(text); msg != "" {
				d.at(item, fmt.Sprintf("%s: %s %s", quoted(key), shown(item), msg), hint)
			}
			*to = append(*to, text)
		})
	}
}

// checkToolPattern returns why a pattern cannot match the name of a tool.
func checkToolPattern(text string) (msg, hint string) {
	strange := func(r rune) bool {
		return r >= 0x80 || !(unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_./-*?", r))
	}
	switch {
	case text == "":
		return "is empty", ""
	case strings.ContainsFunc(text, strange):
		return "matches no tool: their names are of A-Z a-z 0-9 _ . / -", "in a pattern * is any run of characters, ? is one"
	}
	return "", ""
}
